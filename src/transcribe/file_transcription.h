#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "audio/vad/packing.h"
#include "base/clock.h"
#include "base/owned.h"
#include "diarize/speaker_turn.h"
#include "link/other_engine.h"
#include "transcribe/events.h"
#include "transcribe/remote_windows.h"
#include "transcribe/speech_chunks.h"
#include "transcript/long_form.h"
#include "transcript/writers.h"

namespace tutti {

/// A recording's audio as a local file.
struct FetchedAudio {
  std::filesystem::path path;
  OwnedFd held{};  // keeps a file without a name open, whose `path` is then its descriptor's
};

/// A file between decoding and transcription.
struct DecodedFile {
  std::size_t index = 0;  // in the order of the command line
  std::filesystem::path input{};
  Clock::Instant started{};  // start of its audio decoding
  TimeSpent spent{};         // until now
  Recording recording;
  std::vector<float> speech{};  // with VAD: speech_probabilities() of the recording
  FetchedAudio audio{};         // as it was fetched, where a later step decodes it once more
};

/// A file that is worked off from its start to its end.
struct SequentialFile {
  DecodedFile decoded;
  std::optional<PackedPieces> speech{};  // with VAD: all speech that is to be transcribed
  std::vector<double> clips{};           // of keying: where windows begin and end, in seconds of that speech
  float maximum = 0;                     // LogMel::maximum of the audio that is transcribed
};

/// A file between transcription and its outputs.
struct TranscribedFile {
  FileOutcome outcome{};
  Clock::Instant started{};
  Transcript transcript{};
  std::vector<SpeakerTurn> turns{};  // where speakers were to be found
};

/// The content of an output of a file: as format_transcript, or of RTTM the turns of its speakers.
Result<std::string> format_output(const TranscribedFile& file, Format format, const WriterOptions& options);

/// Called after each window with the file's index on the command line, the position reached and the segments that are
/// new, in order. From any thread, but one at a time for one file.
using OnProgressOfFile = std::function<void(std::size_t index, Seconds position, const std::vector<Segment>& fresh)>;

/// What every file of a run shares, mostly borrowed. All members are thread-safe.
struct TranscriptionContext {
  WindowService windows;
  const LogMel& log_mel;
  const LongFormOptions& rules;
  const OnProgressOfFile& on_progress;
  const OtherEngine* other = nullptr;  // it takes PCM; null: windows are of mel
  LongFormInput model{};               // content_frames is each file's own
  TranscriptionMode way{};
};

/// The reference's sequential loop over one file. Blocks; many files may run at once.
Result<TranscribedFile> transcribe_file(const SequentialFile& file, const TranscriptionContext& context);

/// A file with its transcript and what that cost.
TranscribedFile transcribed(const DecodedFile& file, const TranscriptionMode& way, Transcript transcript,
                            const WindowCosts& costs);

}  // namespace tutti
