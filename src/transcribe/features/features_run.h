#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/vad/packing.h"
#include "audio/vad/speech.h"
#include "audio/vad/vad_options.h"
#include "base/error.h"
#include "base/units.h"
#include "profile/tuning_store.h"
#include "transcribe/stop_signal.h"

namespace tutti {

// What the audio side of a transcription costs, without a model: files are decoded, their speech is found, and their
// log-mel features are computed.

/// What one file, or all together, came to.
struct MeasuredAudio {
  Seconds audio{};
  Seconds decoding{};
  Seconds listening{};
  Seconds features{};
  std::int64_t frames = 0;
  std::size_t windows = 0;
  std::vector<std::string> losses{};
  std::vector<std::string> notes{};
  std::optional<std::vector<SpeechPiece>> speech{};  // none without VAD

  Seconds spent() const { return decoding + listening + features; }
  Seconds speech_length() const { return length_of(speech ? samples_of(*speech) : 0, kModelRate); }
};

/// What is measured.
struct FeaturesRequest {
  std::vector<std::string> files{};        ///< "-": the recording of standard input
  std::filesystem::path standard_input{};  ///< where that is kept
  std::int32_t mels = 80;
  std::int32_t decode_threads = 0;    ///< files decoded at once; 0: chosen by the plan
  std::int32_t features_threads = 0;  ///< files whose speech and features are computed at once; 0: likewise
  std::optional<VadOptions> vad{};    ///< finds speech; none: all of a file counts
  bool batched = false;               ///< each window of speech by itself, as `tutti transcribe --batched` takes it
  AudioChoice audio{};
};

/// What the run is tuned by: stages whose threads were left open, and what their costs depend on. `vad_method`: as it
/// is called.
TuningPlan features_plan(const FeaturesRequest& request, const std::string& vad_method);

/// What is reported of the files, in their order. From one thread, which is not the caller's.
struct FeaturesEvents {
  std::function<void(const std::string& file, const MeasuredAudio& measured)> on_file{};
  std::function<void(const Error& error)> on_failed{};
};

/// What all files came to.
struct FeaturesEnd {
  MeasuredAudio total{};
  std::size_t failed = 0;
  std::optional<TuningResult> tuning{};  ///< none: nothing was measured
  /// The sentence on what limited the run; empty where `tutti profile` takes its recording, or no file was whole.
  Result<std::string> finding{};
};

/// Measures all files, several at once. Once `stop` is raised none is begun. Blocks.
Result<FeaturesEnd> measure_features(FeaturesRequest request, TuningPlan plan, const StopSignal& stop,
                                     const FeaturesEvents& events);

}  // namespace tutti
