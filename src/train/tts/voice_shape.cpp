#include "train/tts/voice_shape.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::int64_t kHeadWidth =
    64;  // head width of note 002's sizes, whose feed-forward layers are four times as wide

VoiceShape of_note(std::int64_t width, std::int64_t layers, std::int64_t decoder_width, std::int64_t decoder_layers) {
  return {.width = width,
          .layers = layers,
          .heads = width / kHeadWidth,
          .inner = 4 * width,
          .duration_width = 256,
          .decoder_width = decoder_width,
          .decoder_layers = decoder_layers,
          .decoder_inner = 4 * decoder_width};
}

const std::vector<std::pair<std::string, VoiceShape>>& sizes() {
  static const std::vector<std::pair<std::string, VoiceShape>> all{{"nano", {}},
                                                                   {"tiny", of_note(256, 4, 768, 8)},
                                                                   {"small", of_note(384, 6, 1024, 12)},
                                                                   {"normal", of_note(512, 8, 1536, 16)},
                                                                   {"big", of_note(768, 10, 2048, 20)}};
  return all;
}

constexpr const char* kPositions = "positions";

using Field = std::pair<const char*, std::int64_t VoiceShape::*>;

constexpr std::array<Field, 11> kFields{{{"symbols", &VoiceShape::symbols},
                                         {"speakers", &VoiceShape::speakers},
                                         {"mels", &VoiceShape::mels},
                                         {"width", &VoiceShape::width},
                                         {"layers", &VoiceShape::layers},
                                         {"heads", &VoiceShape::heads},
                                         {"inner", &VoiceShape::inner},
                                         {"duration_width", &VoiceShape::duration_width},
                                         {"decoder_width", &VoiceShape::decoder_width},
                                         {"decoder_layers", &VoiceShape::decoder_layers},
                                         {"decoder_inner", &VoiceShape::decoder_inner}}};

}  // namespace

Result<VoiceShape> voice_shape(const std::string& size) {
  for (const auto& [name, shape] : sizes())
    if (name == size) return shape;
  std::vector<std::string> of_the_note;
  for (const auto& [name, shape] : sizes())
    if (name != "nano") of_the_note.push_back(name);
  return fail(Fault::usage, "model-size '" + size + "': there is no such size",
              "Field note 002 has " + joined(of_the_note, ", ") + "; nano, for two cores, is the default");
}

std::string show_voice_shape(const VoiceShape& shape) {
  nlohmann::ordered_json json;
  for (const auto& [name, field] : kFields) json[name] = shape.*field;
  if (shape.positions > 0) json[kPositions] = shape.positions;
  return json.dump();
}

Result<VoiceShape> read_voice_shape(const std::string& text) {
  VoiceShape shape;
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    for (const auto& [name, field] : kFields) {
      shape.*field = json.at(name);
      if (shape.*field < 1) return fail(Fault::corrupt, std::string("network: ") + name + " is no positive number");
    }
    shape.positions = json.value(kPositions, std::int64_t{0});
    if (shape.positions < 0) return fail(Fault::corrupt, std::string("network: ") + kPositions + " is negative");
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, std::string("network: ") + error.what());
  }
  if (shape.width % (2 * shape.heads) != 0)
    return fail(Fault::corrupt, "network: width is no multiple of twice the heads");
  return shape;
}

}  // namespace tutti
