#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/vocoder/griffin_lim.h"
#include "base/error.h"
#include "text/speech/front_end.h"
#include "train/tts/model.h"
#include "train/vocoder/model.h"

namespace tutti {

/// How a sentence is spoken.
struct SpeakingOptions {
  std::int64_t speaker = 0;    // speaker among the model's
  double rate = 1;             // 2: twice as fast
  std::uint64_t seed = 0;      // seed of the noise that speech is made of
  int steps = 4;               // of Euler's method, from noise to speech
  double temperature = 0.333;  // scale of the noise; 0: always the mean
  double pauses = 1;           // 2: pauses at marks and at a sentence's edges last twice as long
};

/// A sentence as audio.
struct Speech {
  std::vector<float> samples{};  // at the voice's rate, -1 to 1
  SymbolText text{};
  std::vector<std::int64_t> ends{};  // frames from the begin to the end of each symbol
};

/// The spectrogram of a text, of one row, whose symbols last so many frames: durations [1, symbols] int64 -> [frames,
/// mels] float32 on the CPU, natural logarithms. Of the options the noise and the steps count.
at::Tensor spectrogram_in_time(const VoiceModel& model, const EncodedText& text, const at::Tensor& durations,
                               const SpeakingOptions& options);

/// A voice that speaks. Immutable; one thread at a time.
class Voice {
 public:
  /// `vocoder`: what makes audio of its spectrograms. "griffin-lim"; "trained": the vocoder in the voice's folder;
  /// "auto": that one where there is one, else Griffin-Lim; or the folder of another vocoder. Errors as of VoiceModel
  /// and VocoderModel; Fault::usage for a vocoder of other spectrograms, Fault::missing where there is none.
  static Result<Voice> load(const std::filesystem::path& folder, at::Device device,
                            const std::string& vocoder = "auto");

  const VoiceModel& model() const { return model_; }
  const TextFrontEnd& front_end() const { return front_end_; }
  /// Fault::usage for a text that the front end refuses.
  Result<Speech> speak(const std::string& sentence, const SpeakingOptions& options) const;
  /// A text whose symbols are known.
  Speech speak(SymbolText text, const SpeakingOptions& options) const;
  /// A spectrogram as its vocoder makes audio of it: row-major [frames, mels], natural logarithms -> frames * hop
  /// samples.
  std::vector<float> audio_of(std::span<const float> log_mel, std::int64_t frames) const;
  /// The spectrogram of symbols: [frames, mels] float32 on the CPU, natural logarithms; `ends` as in Speech.
  at::Tensor spectrogram_of(const std::vector<std::int32_t>& symbols, const SpeakingOptions& options,
                            std::vector<std::int64_t>& ends) const;

 private:
  Voice(VoiceModel model, TextFrontEnd front_end, at::Device device);

  VoiceModel model_;
  TextFrontEnd front_end_;
  at::Device device_;
  GriffinLim griffin_lim_;
  std::optional<VocoderModel> vocoder_{};  // none: Griffin-Lim alone
};

}  // namespace tutti
