#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audio/recording.h"
#include "base/owned.h"
#include "transcribe/file_transcription.h"
#include "transcribe/run.h"
#include "transcribe/work.h"

namespace tutti {

/// A recording that has been claimed. `index` is its number for the sink, which all other code uses too.
struct ClaimedFile {
  std::size_t index = 0;
  std::filesystem::path input;  // what people call it; its path, unless the sink fetches it
};

class DiskSpaceWait;

/// The audio in a file without a name.
FetchedAudio audio_in(OwnedFd file);

/// The audio that `fetch` writes, from an address or a bucket, to a new file without a name in the temporary folder.
/// Where there is no space for it, `spool` waits, and `fetch` is called again with another file.
Result<FetchedAudio> fetch_audio(DiskSpaceWait& spool, const std::function<Result<void>(int file)>& fetch);

/// Decodes one recording.
using Decode = std::function<Result<Recording>()>;

/// The caller's side of the steps below: where a recording's audio is, what is reported of it, who serves its windows.
/// A list of files, a batch on a store, a request to a service. Called by many threads, but for one recording by one at
/// a time.
class RecordingSink {
 public:
  virtual ~RecordingSink() = default;
  /// It is going to be decoded. An error ends the recording.
  virtual Result<void> begin(std::size_t /*index*/) { return {}; }
  /// Where its audio is; may wait for a network.
  virtual Result<FetchedAudio> fetch(const ClaimedFile& file) { return FetchedAudio{file.input}; }
  /// Its decoded audio, by `decode`, which may be called again where it found no space for that. An error ends the
  /// recording.
  virtual Result<Recording> decoded(std::size_t /*index*/, const Decode& decode) { return decode(); }
  /// So much of its audio is decoded. An error ends the recording.
  virtual Result<void> on_decoding(std::size_t /*index*/, Seconds /*decoded*/) { return {}; }
  /// All of it is. An error ends the recording.
  virtual Result<void> on_audio_decoded(std::size_t index, Seconds length) = 0;
  /// How its windows are served; waits for a worker. Null: it is not to be worked on.
  virtual const TranscriptionContext* context(std::size_t index) = 0;
};

/// How recordings are served: by these steps, in this order. Between two of them a caller may change threads; the
/// stages of a run do, a service does not. Thread-safe; borrows what it is made of.
struct RecordingJob {
  RecordingSink& sink;
  const SpeechOptions& options;
  const std::atomic<bool>& aborted;       // decoders and passes over the audio end soon after it is set
  std::function<bool()> is_wanted;        // false: what has not begun does not begin
  std::vector<std::string> remarks = {};  // on the options, for the outcome

  /// Fetches and decodes it. What is wrong with it is reported by the name that people know.
  Result<DecodedFile> decode(ClaimedFile file) const;
  /// Finds its stretches of speech; without VAD there is nothing to do.
  Result<DecodedFile> detect_speech(DecodedFile file) const;
  /// Waits until a worker is there, then makes windows of it, as fast as `hand_on` takes them.
  Result<void> prepare(DecodedFile file, const HandOn& hand_on) const;
  /// Does a piece of its work. Yields the recording, enriched, if this was the last of it.
  Result<std::optional<TranscribedFile>> transcribe(Work work) const;
  /// Between transcript and outputs: adds what follows from the whole recording, whose audio is still there, such as
  /// who speaks. An error ends the recording.
  Result<void> enrich(const DecodedFile& decoded, TranscribedFile& file) const;

  /// `prepare` and `transcribe` on the caller's thread, window by window.
  Result<TranscribedFile> transcribe_here(DecodedFile file) const;
};

}  // namespace tutti
