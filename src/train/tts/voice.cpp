#include "train/tts/voice.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files.h"
#include "base/random/counter_random.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr const char* kVocoderFolder = "vocoder";  // in a voice's folder

constexpr double kLongest = 400;  // frames of a symbol: what is longer was never learned

/// Whether a symbol is silence or a mark: gaps between words are none.
bool is_pause(std::int32_t symbol) {
  return symbol == TextFrontEnd::kSilence || (symbol > TextFrontEnd::kGap && symbol <= TextFrontEnd::kLastMark);
}

/// The frame behind each symbol's last one. Sums are rounded, not durations, so that nothing drifts; each symbol has a
/// frame at least.
std::vector<std::int64_t> ends_of(const at::Tensor& log_durations, const std::vector<std::int32_t>& symbols,
                                  double length_scale, const SpeakingOptions& options) {
  const auto logs = log_durations.to(at::kCPU, at::kFloat).contiguous();
  std::vector<std::int64_t> ends;
  double end = 0;
  for (std::int64_t i = 0; i < logs.numel(); ++i) {
    const double pauses = is_pause(symbols[static_cast<std::size_t>(i)]) ? options.pauses : 1;
    const double factor = length_scale * pauses / options.rate;
    end += std::clamp(std::exp(static_cast<double>(logs.const_data_ptr<float>()[i])) * factor, 1.0, kLongest);
    ends.push_back(std::lround(end));
  }
  return ends;
}

at::Tensor durations_of(const std::vector<std::int64_t>& ends, at::Device device) {
  auto durations = ends;
  for (std::size_t i = durations.size(); i-- > 1;) durations[i] -= durations[i - 1];
  return at::tensor(durations, at::TensorOptions(at::kLong)).unsqueeze(0).to(device);
}

/// The trained vocoder that `name` means (Voice::load); none: Griffin-Lim.
Result<std::optional<VocoderModel>> vocoder_named(const std::string& name, const std::filesystem::path& folder,
                                                  const VoiceModel& voice, at::Device device) {
  const auto own = folder / kVocoderFolder;
  if (name == "griffin-lim" || (name == "auto" && !is_there(own))) return std::nullopt;
  const auto path = name == "auto" || name == "trained" ? own : std::filesystem::path(name);
  if (!is_there(path))
    return fail(Fault::missing, path.string() + ": no vocoder is there",
                "Expected the folder OUT/model of 'tutti train vocoder --out OUT'");
  auto vocoder = TRY(VocoderModel::load(path, device));
  if (vocoder.mel == voice.mel) return std::optional(std::move(vocoder));
  return fail(Fault::usage,
              path.string() + ": its spectrograms are others than the voice's, of " +
                  std::to_string(vocoder.mel.rate.value) + " Hz beside " + std::to_string(voice.mel.rate.value) + " Hz",
              "Train a vocoder on a set of the voice's rate");
}

}  // namespace

at::Tensor spectrogram_in_time(const VoiceModel& model, const EncodedText& text, const at::Tensor& durations,
                               const SpeakingOptions& options) {
  const c10::AutoGradMode no_gradients(false);
  const auto device = text.mean.device();
  const auto frames = durations.sum().item<std::int64_t>();
  const auto positions = at::arange(frames, at::TensorOptions(at::kLong)).unsqueeze(0).to(device);
  const auto condition = condition_of(model.network, text, durations, positions);
  const auto mask = at::ones({1, frames, 1}, condition.options());
  auto generator = at::detail::createCPUGenerator(mixed({options.seed, digest("speech")}));
  auto x = at::randn({1, frames, model.network.shape.mels}, generator, at::TensorOptions(at::kFloat)).to(device);
  x = x * options.temperature;
  for (int step = 0; step < options.steps; ++step) {
    const auto time = at::full({1}, static_cast<double>(step) / options.steps, x.options());
    x = x + velocity_of(model.network, x, time, condition, mask) / options.steps;
  }
  const auto mean = at::tensor(model.mean, at::TensorOptions(at::kFloat));
  return (x[0].to(at::kCPU) * model.deviation + mean).contiguous();
}

Voice::Voice(VoiceModel model, TextFrontEnd front_end, at::Device device)
    : model_(std::move(model)), front_end_(std::move(front_end)), device_(device), griffin_lim_(model_.mel) {}

Result<Voice> Voice::load(const std::filesystem::path& folder, at::Device device, const std::string& vocoder) {
  auto model = TRY(VoiceModel::load(folder, device));
  auto front_end = TextFrontEnd::parse(model.front_end);
  if (!front_end) return fail_in((folder / TextFrontEnd::kFileName).string(), front_end.error());
  if (std::ssize(front_end->symbols()) != model.network.shape.symbols)
    return fail(Fault::corrupt, folder.string() + ": the network has other symbols than " + TextFrontEnd::kFileName);
  auto trained = TRY(vocoder_named(vocoder, folder, model, device));
  Voice voice(std::move(model), std::move(*front_end), device);
  voice.vocoder_ = std::move(trained);
  return voice;
}

at::Tensor Voice::spectrogram_of(const std::vector<std::int32_t>& symbols, const SpeakingOptions& options,
                                 std::vector<std::int64_t>& ends) const {
  const c10::AutoGradMode no_gradients(false);
  const auto& network = model_.network;
  const at::TensorOptions whole(at::kLong);
  const std::vector<std::int64_t> ids(symbols.begin(), symbols.end());
  const auto text =
      encode_text(network, at::tensor(ids, whole).unsqueeze(0).to(device_),
                  at::full({1}, std::ssize(ids), whole).to(device_), at::full({1}, options.speaker, whole).to(device_));
  const double length_scale = model_.settings[static_cast<std::size_t>(options.speaker)].length_scale;
  ends = ends_of(text.log_durations[0], symbols, length_scale, options);
  return spectrogram_in_time(model_, text, durations_of(ends, device_), options);
}

Result<Speech> Voice::speak(const std::string& sentence, const SpeakingOptions& options) const {
  auto text = TRY(front_end_.read(sentence));
  return speak(std::move(text), options);
}

Speech Voice::speak(SymbolText text, const SpeakingOptions& options) const {
  Speech speech{.text = std::move(text)};
  const auto mel = spectrogram_of(speech.text.symbols, options, speech.ends);
  speech.samples = audio_of({mel.const_data_ptr<float>(), static_cast<std::size_t>(mel.numel())}, mel.size(0));
  return speech;
}

std::vector<float> Voice::audio_of(std::span<const float> log_mel, std::int64_t frames) const {
  return vocoder_ ? vocoder_->audio_of(log_mel, frames) : griffin_lim_.audio_of(log_mel, frames);
}

}  // namespace tutti
