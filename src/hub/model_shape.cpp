#include "hub/model_shape.h"

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "hub/model_files.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Whole numbers that a shape may consist of; far above any model, far below what overflows.
bool is_valid(const ModelShape& shape) {
  constexpr std::int64_t kLargest = 1 << 20;
  for (const auto number : {shape.n_mels, shape.audio_positions, shape.text_positions, shape.vocabulary, shape.state,
                            shape.audio_layers, shape.text_layers}) {
    if (number < 1 || number > kLargest) return false;
  }
  return true;
}

std::optional<ModelShape> from_config(const std::filesystem::path& file) {
  const auto text = read_regular_file(file);
  if (!text) return {};
  const Json config = Json::parse(*text, nullptr, false);
  if (!config.is_object()) return {};
  const auto number = [&](const char* key) -> std::int64_t {
    const auto found = config.find(key);
    return found != config.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  const ModelShape shape{.n_mels = number("num_mel_bins"),
                         .audio_positions = number("max_source_positions"),
                         .text_positions = number("max_target_positions"),
                         .vocabulary = number("vocab_size"),
                         .state = number("d_model"),
                         .audio_layers = number("encoder_layers"),
                         .text_layers = number("decoder_layers")};
  return is_valid(shape) ? std::optional(shape) : std::nullopt;
}

/// The mark and eleven numbers that a whisper.cpp file begins with.
std::optional<ModelShape> from_ggml(const std::filesystem::path& file) {
  std::array<std::int32_t, 12> head{};
  std::array<char, sizeof head> bytes{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(bytes.data(), bytes.size())) return {};
  std::memcpy(head.data(), bytes.data(), sizeof head);
  const ModelShape shape{.n_mels = head[10],
                         .audio_positions = head[2],
                         .text_positions = head[6],
                         .vocabulary = head[1],
                         .state = head[3],
                         .audio_layers = head[5],
                         .text_layers = head[9]};
  return is_valid(shape) ? std::optional(shape) : std::nullopt;
}

struct Published {
  std::string_view name;
  ModelShape shape;
};

/// OpenAI's models. A name comes before those it is a part of.
constexpr std::array kPublished{
    Published{"turbo", {128, 1500, 448, 51866, 1280, 32, 4}},
    Published{"large-v3", {128, 1500, 448, 51866, 1280, 32, 32}},
    Published{"large", {80, 1500, 448, 51865, 1280, 32, 32}},
    Published{"medium", {80, 1500, 448, 51865, 1024, 24, 24}},
    Published{"small", {80, 1500, 448, 51865, 768, 12, 12}},
    Published{"base", {80, 1500, 448, 51865, 512, 6, 6}},
    Published{"tiny", {80, 1500, 448, 51865, 384, 4, 4}},
};

std::optional<ModelShape> from_name(std::string_view name) {
  const auto contains = [&](std::string_view part) { return name.find(part) != name.npos; };
  for (const auto& known : kPublished) {
    if (!contains(known.name)) continue;
    auto shape = known.shape;
    if (contains(".en")) shape.vocabulary = 51864;
    // Distil-Whisper keeps the encoder and the first and last layers of the decoder, of the small model's two more.
    if (contains("distil")) shape.text_layers = known.name == "small" ? 4 : 2;
    return shape;
  }
  return {};
}

/// By the model's own name or, where that is a commit's in Hugging Face's cache, by the repository's, which is the
/// folder two above. Other folders' names say nothing: /home/database/mine is no base.
std::optional<ModelShape> from_path(const std::filesystem::path& model) {
  if (auto shape = from_name(model.filename().string())) return shape;
  const auto snapshots = model.parent_path();
  if (snapshots.filename() != "snapshots") return {};
  return from_name(snapshots.parent_path().filename().string());
}

bool config_has(const std::filesystem::path& model, const char* key, const char* value) {
  const auto text = read_regular_file(model / "config.json");
  if (!text) return false;
  const Json json = Json::parse(*text, nullptr, false);
  return json.is_object() && json.value(key, Json()) == value;
}

}  // namespace

std::optional<ModelShape> model_shape(const std::filesystem::path& model) {
  const auto kind = kind_of(model);
  std::optional<ModelShape> shape;
  if (kind == ModelKind::hugging_face) shape = from_config(model / "config.json");
  if (kind == ModelKind::ggml) shape = from_ggml(model);
  return shape ? shape : from_path(model);
}

bool is_keyed(const std::filesystem::path& model) {
  return config_has(model, "tutti_vad_method", "keying");
}

bool takes_keyed_tone(const std::filesystem::path& model) {
  return config_has(model, "tutti_audio_filter", "keyed_tone");
}

}  // namespace tutti
