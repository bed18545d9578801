#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "public/tutti/recording.h"
#include "transcribe/speech_options.h"
#include "transcribe/spoken_language.h"
#include "transcript/transcript.h"

namespace tutti {

/// Which model is loaded, and where.
struct WhisperModelOptions {
  std::string model{};           ///< a name ("tiny.en", "turbo") or a path, as `tutti models` lists and finds them
  std::string devices = "auto";  ///< a list as `tutti batch --devices` takes it: auto, cpu, cuda:0,cuda:1
  std::string compute_type = "default";  ///< float32 on a CPU and float16 on a GPU; or auto, float16, int8, ...
  std::int32_t threads = 0;              ///< CPU threads for tensors; 0: one per core
  std::int32_t batch_size = 0;           ///< windows that a device steps together at most; 0: what fits it best
  Seconds longest{12 * 3600};            ///< that a recording may last
};

/// Called ten times a second while a call waits; false ends the wait with Fault::cancelled.
using GoOn = std::function<bool()>;

/// A transcription in work, or done. Movable. One thread at a time, but for `cancel`. Destroying it cancels it.
class Transcription {
 public:
  Transcription(Transcription&&) noexcept;
  Transcription& operator=(Transcription&&) noexcept;
  ~Transcription();

  /// Waits until the audio is decoded and its language known. Errors as for `next`.
  Result<RecordingFacts> facts(const GoOn& go_on = {});
  /// Waits for the next segment, in order; times are seconds from the recording's start. Empty: that was the last one.
  /// An error ends it, and comes again from every later call: Fault::cancelled behind `cancel`, else why the recording
  /// cannot be transcribed.
  Result<std::optional<Segment>> next(const GoOn& go_on = {});
  /// Waits to the end. The whole transcript: all segments, also those that `next` has returned, and the language.
  /// Errors as for `next`.
  Result<Transcript> whole(const GoOn& go_on = {});
  /// Ends it soon: what it has in work on the devices is free at once. Any thread, at any time.
  void cancel();

 private:
  friend class WhisperTranscriber;
  struct State;
  explicit Transcription(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A Whisper model on one or more devices: loaded once, it transcribes any number of recordings, one after the other or
/// side by side, and windows of all of them share the devices' batches. A child process (tutti-engine) has each
/// device, and is started again where it is lost; another (tutti) decodes audio. base/program_paths.h has how they are
/// found. Movable; thread-safe.
class WhisperTranscriber {
 public:
  /// Waits until the model is loaded on a device. Errors: Fault::usage for an option that cannot be intended, or a
  /// model that no path and no name is; Fault::missing where the model is not on this machine, or there is no such
  /// device or no tutti-engine; Fault::exhausted or ::device.
  static Result<WhisperTranscriber> load(const WhisperModelOptions& options, const GoOn& go_on = {});
  WhisperTranscriber(WhisperTranscriber&&) noexcept;
  WhisperTranscriber& operator=(WhisperTranscriber&&) noexcept;
  /// Cancels what is in work, and ends the child processes.
  ~WhisperTranscriber();

  /// Codes of the languages that the model knows; empty: English alone.
  std::vector<std::string> languages() const;
  /// Begins, and returns at once. `options` are this recording's own; the defaults are those of openai-whisper's
  /// transcribe(). What of them the model cannot do is an error of the transcription. The model outlives it.
  Transcription transcribe(RecordingInput recording, SpeechOptions options = {});

 private:
  struct Parts;
  explicit WhisperTranscriber(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti
