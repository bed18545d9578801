#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>

#include "audio/recording.h"
#include "flow/pipeline.h"
#include "transcribe/file_transcription.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"
#include "transcribe/tally.h"

namespace tutti {

/// A file that a run has claimed. `index` is the source's number for it, which all other code uses too.
struct ClaimedFile {
  std::size_t index = 0;
  std::filesystem::path input;
};

/// Decodes one file.
using Decode = std::function<Result<Recording>()>;

/// Where the files of a run come from, who serves their windows, and where their transcripts go: a list of files, or a
/// batch on a store. Called by many threads, but for one file by one at a time.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The next file to transcribe; may wait. None: there are no more.
  virtual std::optional<ClaimedFile> next() = 0;
  /// It is going to be decoded. An error ends the file.
  virtual Result<void> begin(std::size_t index) = 0;
  /// Its decoded audio, by `decode`, which may be called again where it found no space for that. An error ends the
  /// file.
  virtual Result<Recording> decoded(std::size_t /*index*/, const Decode& decode) { return decode(); }
  /// Its audio is there. An error ends the file.
  virtual Result<void> on_audio_decoded(std::size_t index, Seconds length) = 0;
  /// How its windows are served; waits for a worker. Null: it is not to be worked on.
  virtual const TranscriptionContext* context(std::size_t index) = 0;
  /// Writes its outputs and enters them in the outcome.
  virtual Result<void> publish(TranscribedFile& file) = 0;
  /// It has ended without a transcript. Fault::cancelled: it was stopped.
  virtual void failed(std::size_t index, const Error& error) = 0;
};

/// What the stages of a run share. Outlives the pipeline.
struct Run {
  JobSource& files;
  const RunOptions& options;
  Tally& tally;
  StopSignal& stop;
  std::atomic<bool> aborted{false};  // decoders stop at their next tick
};

/// Stages of a run that may be given more threads (prefetch.h); kSpeechStage is there with VAD.
inline constexpr const char* kDecodeStage = "decode";
inline constexpr const char* kSpeechStage = "listen";
inline constexpr const char* kPrepareStage = "prepare";

/// The stage that holds one window in flight per thread; its number of threads is set once the workers have reported
/// theirs.
inline constexpr const char* kTranscribeStage = "transcribe";

/// The stage that writes outputs and waits for the disk.
inline constexpr const char* kWriteStage = "write";

/// files -> decode [-> detect speech, with VAD] -> prepare -> transcribe -> write.
void build_stages(Pipeline& pipeline, Run& run);

}  // namespace tutti
