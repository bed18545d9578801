#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "transcribe/file_transcription.h"
#include "transcribe/remote_windows.h"
#include "transcribe/speech_chunks.h"

namespace tutti {

/// What became of one chunk; times are the recording's.
struct ChunkOutcome {
  std::vector<Segment> segments{};
  WindowCosts costs{};
};

/// A file in many pieces: its chunks are transcribed by any threads in any order and put together here in the order of
/// the recording. Thread-safe.
class BatchedFile {
 public:
  /// `context` outlives it.
  BatchedFile(DecodedFile file, std::vector<SpeechChunk> chunks, const TranscriptionContext& context);

  const DecodedFile& file() const { return file_; }
  const std::vector<SpeechChunk>& chunks() const { return chunks_; }
  /// One of its chunks failed: there is no use in the others.
  bool failed() const;

  /// The language of the whole file, which the thread of chunk 0 settles by calling `settle`. All others wait for it,
  /// so chunk 0 must be in work before them.
  template <class Settle>
  Result<std::string> language(std::size_t chunk, Settle settle) {
    if (chunk == 0) state_.change([language = settle()](State& state) { state.language = language; });
    return state_.wait([](const State& state) { return state.language || state.error; },
                       [](State& state) -> Result<std::string> {
                         if (state.error) return tl::unexpected(*state.error);
                         return *state.language;
                       });
  }

  /// Adds to what the file has cost.
  void spent_on_features(Seconds time);

  /// Enters what became of a chunk, each once. With the last of them comes the whole file, or the error that came
  /// first.
  std::optional<Result<TranscribedFile>> enter(std::size_t chunk, Result<ChunkOutcome> outcome);

 private:
  struct State {
    std::optional<Result<std::string>> language{};
    std::optional<Error> error{};
    std::vector<std::optional<std::vector<Segment>>> waiting{};  // by chunk: done, but an earlier one is not
    std::size_t next = 0;                                        // chunk to come next in the transcript
    std::size_t entered = 0;
    Seconds speech_done{};
    WindowCosts costs{};
    Transcript transcript{};
  };
  /// What is to be reported of a change.
  struct News {
    std::vector<Segment> fresh{};
    Seconds position{};
    bool complete = false;
  };

  News add(State& state, std::size_t chunk, Result<ChunkOutcome> outcome) const;
  Result<TranscribedFile> whole(State& state);

  DecodedFile file_;
  const std::vector<SpeechChunk> chunks_;
  const TranscriptionContext& context_;
  Seconds speech_{};
  // Held while a change is reported, so that segments are reported in order; taken before the state's own lock.
  Mutex reporting_;
  Guarded<State> state_;
};

}  // namespace tutti
