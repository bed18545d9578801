#include "train/tts/model.h"

#include <algorithm>
#include <utility>

#include "audio/voice/melody.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/tensor_file.h"
#include "train/tts/voice_config.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastLengthScale = 0.25, kMostLengthScale = 4;

Result<void> expect_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return fail(Fault::corrupt, std::string(name) + ": expected " + number_text(least) + " to " + number_text(most) +
                                  ", found " + number_text(value));
}

/// Settings of `json`, and `usual` for those that it lacks.
Result<SpeakingSettings> settings_of(const Json& json, const SpeakingSettings& usual) {
  const SpeakingSettings settings{.pitch_range = json.value("pitch_range", usual.pitch_range),
                                  .temperature = json.value("temperature", usual.temperature),
                                  .length_scale = json.value("length_scale", usual.length_scale)};
  TRY(expect_range("pitch_range", settings.pitch_range, kLeastPitchRange, kMostPitchRange));
  TRY(expect_range("temperature", settings.temperature, 0, 1));
  TRY(expect_range("length_scale", settings.length_scale, kLeastLengthScale, kMostLengthScale));
  return settings;
}

Result<std::size_t> speaker_in_config(const VoiceModel& model, const char* field, const std::string& name) {
  const auto found = model.speaker_named(name);
  if (!found) return fail(Fault::corrupt, std::string(field) + ": " + found.error().what, found.error().hint);
  return static_cast<std::size_t>(*found);
}

/// Settings stand for all speakers, and under "speaker_settings" for one of them.
Result<void> read_speaking(VoiceModel& model, const Json& json) {
  const auto shared = TRY(settings_of(json, {}));
  model.settings.assign(model.speakers.size(), shared);
  const auto own = json.value("speaker_settings", Json::object());
  for (const auto& [name, settings] : own.items())
    model.settings[TRY(speaker_in_config(model, "speaker_settings", name))] = TRY(settings_of(settings, shared));
  if (json.contains("default_speaker"))
    model.usual_speaker = TRY(speaker_in_config(model, "default_speaker", json.at("default_speaker")));
  return {};
}

Json json_of(const SpeakingSettings& settings) {
  const SpeakingSettings usual;
  auto json = Json::object();
  if (settings.pitch_range != usual.pitch_range) json["pitch_range"] = settings.pitch_range;
  if (settings.temperature != usual.temperature) json["temperature"] = settings.temperature;
  if (settings.length_scale != usual.length_scale) json["length_scale"] = settings.length_scale;
  return json;
}

/// Fills in what config.json holds; throws what the JSON library does.
Result<void> read_config(VoiceModel& model, const Json& json) {
  auto shape = TRY(read_voice_shape(json.at("network").dump()));
  model.network.shape = shape;
  model.mel = mel_of(json.at("mel"));
  model.mean = json.at("normalisation").at("mean").get<std::vector<float>>();
  model.deviation = json.at("normalisation").at("deviation");
  model.speakers = json.at("speakers").get<std::vector<std::string>>();
  model.language = json.at("language");
  model.label = json.at("trained_on");
  if (auto checked = check(model.mel); !checked) return checked;
  const bool agrees = shape.mels == model.mel.n_mels && std::ssize(model.mean) == model.mel.n_mels &&
                      shape.speakers == std::ssize(model.speakers) && model.deviation > 0;
  if (!agrees) return fail(Fault::corrupt, "mel, speakers and network do not fit each other");
  return read_speaking(model, json);
}

}  // namespace

VoiceModel VoiceModel::start(const VoiceSet& set, VoiceShape shape, std::optional<std::uint64_t> seed,
                             at::Device device) {
  const auto& format = set.format();
  shape.symbols = std::ssize(format.symbols);
  shape.speakers = std::ssize(format.speakers);
  shape.mels = format.mel.n_mels;
  return {.mel = format.mel,
          .mean = format.mean,
          .deviation = format.deviation,
          .speakers = format.speakers,
          .language = format.language,
          .settings = std::vector<SpeakingSettings>(format.speakers.size()),
          .label = format.label,
          .front_end = std::string(set.front_end()),
          .network = new_voice_network(shape, seed, device)};
}

Result<void> VoiceModel::expect_form_of(const VoiceSet& set, const std::filesystem::path& folder) const {
  const auto differs = [&](const char* what) {
    return fail(Fault::usage, folder.string() + ": its " + what + " are others than those of the set",
                "Make the set with 'tutti prepare tts' as the one that the voice learned from");
  };
  if (front_end != set.front_end()) return differs("symbols or dictionary");
  if (mel != set.format().mel) return differs("spectrograms");
  return {};
}

Result<std::int64_t> VoiceModel::speaker_named(const std::string& name) const {
  const auto found = std::ranges::find(speakers, name);
  if (found != speakers.end()) return found - speakers.begin();
  return fail(Fault::usage, "speaker '" + name + "': the voice has no such speaker",
              "It has " + joined(speakers, ", "));
}

std::map<std::string, std::string> VoiceModel::files(const std::string& weight_type) const {
  Json config{{"model_type", kVoiceKind.type},
              {"torch_dtype", weight_type},
              {"language", language},
              {"speakers", speakers},
              {"trained_on", label},
              {"mel", json_of(mel)},
              {"network", Json::parse(show_voice_shape(network.shape))},
              {"normalisation", {{"mean", mean}, {"deviation", deviation}}}};
  if (usual_speaker != 0) config["default_speaker"] = speakers[usual_speaker];
  for (std::size_t i = 0; i < speakers.size(); ++i)
    if (const auto own = json_of(settings[i]); !own.empty()) config["speaker_settings"][speakers[i]] = own;
  return {{"config.json", config.dump(1) + "\n"}, {TextFrontEnd::kFileName, front_end}, {"README.md", card}};
}

Result<VoiceModel> VoiceModel::load(const std::filesystem::path& folder, at::Device device) {
  const auto config = TRY(config_of(folder, kVoiceKind));
  TRY(check_digests(folder));
  VoiceModel model;
  const auto path = (folder / "config.json").string();
  try {
    if (auto read = read_config(model, config); !read) return fail_in(path, read.error());
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, path + ": " + error.what());
  }
  model.front_end = TRY(read_regular_file(folder / TextFrontEnd::kFileName));
  model.network = new_voice_network(model.network.shape, std::nullopt, device);
  TRY(read_weights(folder / "model.safetensors", model.network.all));
  return model;
}

}  // namespace tutti
