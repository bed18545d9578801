#include "train/tts/voice_config.h"

#include <string>

#include "base/files.h"
#include "base/try.h"

namespace tutti {

nlohmann::ordered_json json_of(const VoiceMelOptions& mel) {
  return {{"rate", mel.rate.value}, {"n_fft", mel.n_fft},   {"window", mel.window},  {"hop", mel.hop},
          {"n_mels", mel.n_mels},   {"lowest", mel.lowest}, {"highest", mel.highest}};
}

VoiceMelOptions mel_of(const nlohmann::ordered_json& json) {
  return {.rate = {json.at("rate")},
          .n_fft = json.at("n_fft"),
          .window = json.at("window"),
          .hop = json.at("hop"),
          .n_mels = json.at("n_mels"),
          .lowest = json.at("lowest"),
          .highest = json.at("highest")};
}

Result<nlohmann::ordered_json> config_of(const std::filesystem::path& folder, const VoiceModelKind& kind) {
  const auto path = folder / "config.json";
  const auto text = TRY(read_regular_file(path));
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail(Fault::corrupt, path.string() + ": expected a JSON object");
  const auto type = json.value("model_type", nlohmann::ordered_json());
  if (type == kind.type) return json;
  return fail(Fault::usage,
              folder.string() + " holds no " + kind.name + ": expected model_type '" + kind.type +
                  "' in config.json, found " + (type.is_null() ? std::string("none") : type.dump()),
              std::string("Name OUT/model of '") + kind.command + " --out OUT'");
}

}  // namespace tutti
