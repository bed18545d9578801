#include "train/vocoder/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "base/random/counter_random.h"
#include "base/try.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/tensor_file.h"
#include "train/tts/voice_config.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRounds = 2;  // in which the sound comes nearer to its mels

/// Fills in what config.json holds; throws what the JSON library does.
Result<void> read_config(VocoderModel& model, const Json& json) {
  auto shape = TRY(read_vocoder_shape(json.at("network").dump()));
  model.network.shape = shape;
  model.mel = mel_of(json.at("mel"));
  model.mean = json.at("normalisation").at("mean").get<std::vector<float>>();
  model.deviation = json.at("normalisation").at("deviation");
  model.label = json.at("trained_on");
  if (auto checked = check(model.mel); !checked) return checked;
  const bool agrees = shape.mels == model.mel.n_mels && shape.bins == model.mel.n_fft / 2 + 1 &&
                      std::ssize(model.mean) == model.mel.n_mels && model.deviation > 0;
  return agrees ? Result<void>() : fail(Fault::corrupt, "mel and network do not fit each other");
}

}  // namespace

VocoderModel VocoderModel::start(const VoiceSet& set, VocoderShape shape, std::optional<std::uint64_t> seed,
                                 at::Device device) {
  const auto& format = set.format();
  shape.mels = format.mel.n_mels;
  shape.bins = format.mel.n_fft / 2 + 1;
  return {.mel = format.mel,
          .mean = format.mean,
          .deviation = format.deviation,
          .label = format.label,
          .network = new_vocoder_network(shape, seed, device),
          .filter = SourceFilter(format.mel, at::kCPU)};
}

std::map<std::string, std::string> VocoderModel::files(const std::string& weight_type) const {
  const Json config{{"model_type", kVocoderKind.type},
                    {"torch_dtype", weight_type},
                    {"trained_on", label},
                    {"mel", json_of(mel)},
                    {"network", Json::parse(show_vocoder_shape(network.shape))},
                    {"normalisation", {{"mean", mean}, {"deviation", deviation}}}};
  return {{"config.json", config.dump(1) + "\n"}, {"README.md", card}};
}

Result<VocoderModel> VocoderModel::load(const std::filesystem::path& folder, at::Device device) {
  const auto config = TRY(config_of(folder, kVocoderKind));
  TRY(check_digests(folder));
  VocoderModel model;
  const auto path = (folder / "config.json").string();
  try {
    if (auto read = read_config(model, config); !read) return fail_in(path, read.error());
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, path + ": " + error.what());
  }
  model.network = new_vocoder_network(model.network.shape, std::nullopt, device);
  model.filter.emplace(model.mel, at::kCPU);
  TRY(read_weights(folder / "model.safetensors", model.network.all));
  return model;
}

std::vector<float> VocoderModel::audio_of(std::span<const float> log_mel, std::int64_t frames) const {
  if (frames <= 0) return {};
  const c10::AutoGradMode no_gradients(false);
  const auto raw = at::empty({1, frames, mel.n_mels}, at::TensorOptions(at::kFloat));
  std::ranges::copy(log_mel, raw.mutable_data_ptr<float>());
  const auto device = network.all.front().value.device();
  const auto found = filters_of(network, ((raw - at::tensor(mean)) / deviation).to(device));
  const VocoderFilters filters{found.pulses.to(at::kCPU), found.noise.to(at::kCPU), found.turns.to(at::kCPU), {}};
  std::vector<float> pitch(static_cast<std::size_t>(filter->edge()), 0.0F);
  const auto inside = likeliest_pitch(found.pitch[0]);
  pitch.insert(pitch.end(), inside.begin(), inside.end());
  pitch.resize(pitch.size() + static_cast<std::size_t>(filter->edge()), 0.0F);
  const auto samples = filter->samples(frames);
  std::vector<float> noise(static_cast<std::size_t>(samples));
  CounterRandom random(digest("noise of a vocoder"));
  std::ranges::generate(noise, [&] { return static_cast<float>(random.normal()); });
  const auto spectra =
      filter->filtered(filters, at::tensor(filter->pulses(pitch, 0)).unsqueeze(0), at::tensor(noise).unsqueeze(0));
  // The frames overlap, so that what was added up has other mels again, but nearer ones.
  const auto wanted = raw.exp();
  auto audio = filter->audio_of(filter->with_mels(spectra, wanted));
  for (int round = 0; round < kRounds; ++round)
    audio = filter->audio_of(filter->with_mels(filter->spectra_of(audio), wanted));
  audio = audio.contiguous();
  const float* first = audio.const_data_ptr<float>() + filter->lead();
  return {first, first + frames * mel.hop};
}

}  // namespace tutti
