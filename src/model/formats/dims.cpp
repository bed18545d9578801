#include "model/formats/dims.h"

#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/try.h"

namespace tutti {
namespace {

using nlohmann::json;

// Far above any Whisper model, far below what overflows 64-bit sizes.
constexpr std::int32_t kLargestDim = 1 << 20;
constexpr std::int32_t kMostLayers = 1024;

struct Range {
  const char* name;
  std::int32_t value;
  std::int32_t most;
};

Result<std::int32_t> number(const json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return fail(Fault::corrupt, std::string(key) + " is missing");
  if (!found->is_number_integer() || found->get<std::int64_t>() < 1 || found->get<std::int64_t>() > kLargestDim) {
    return fail(Fault::corrupt, std::string(key) + ": expected a whole number from 1 to " +
                                    std::to_string(kLargestDim) + ", found " + found->dump());
  }
  return found->get<std::int32_t>();
}

/// Fields that would change the network's arithmetic if they had another value.
Result<void> check_kind(const json& config) {
  if (config.value("model_type", json("whisper")) != "whisper") {
    return fail(Fault::unsupported, "model_type is " + config["model_type"].dump() + ", expected \"whisper\"");
  }
  if (config.value("activation_function", json("gelu")) != "gelu") {
    return fail(Fault::unsupported,
                "activation_function is " + config["activation_function"].dump() + ", expected \"gelu\"");
  }
  if (config.value("scale_embedding", json(false)) != false) {
    return fail(Fault::unsupported, "scale_embedding is on; Whisper models do not scale embeddings");
  }
  if (config.value("tie_word_embeddings", json(true)) != true) {
    return fail(Fault::unsupported, "tie_word_embeddings is off; Whisper's output layer is its token embedding");
  }
  return {};
}

}  // namespace

WhisperShape openai_shape(const WhisperDims& dims) {
  // What is outside is no shape, and check_shape reports it; four times as much may be no number either.
  const auto four_times = [](std::int32_t state) { return 4 * std::clamp(state, 0, kLargestDim); };
  return {dims, four_times(dims.n_audio_state), four_times(dims.n_text_state)};
}

Result<void> check_shape(const WhisperShape& shape) {
  const auto& d = shape.dims;
  const Range ranges[] = {
      {"n_mels", d.n_mels, kLargestDim},
      {"n_audio_ctx", d.n_audio_ctx, kLargestDim},
      {"n_audio_state", d.n_audio_state, kLargestDim},
      {"n_audio_head", d.n_audio_head, kLargestDim},
      {"n_audio_layer", d.n_audio_layer, kMostLayers},
      {"n_vocab", d.n_vocab, kLargestDim},
      {"n_text_ctx", d.n_text_ctx, kLargestDim},
      {"n_text_state", d.n_text_state, kLargestDim},
      {"n_text_head", d.n_text_head, kLargestDim},
      {"n_text_layer", d.n_text_layer, kMostLayers},
      {"encoder feed-forward width", shape.audio_mlp, 4 * kLargestDim},
      {"decoder feed-forward width", shape.text_mlp, 4 * kLargestDim},
  };
  for (const auto& range : ranges) {
    if (range.value < 1 || range.value > range.most) {
      return fail(Fault::corrupt, std::string(range.name) + " is " + std::to_string(range.value) + ", expected 1 to " +
                                      std::to_string(range.most));
    }
  }
  if (d.n_audio_state % d.n_audio_head != 0 || d.n_text_state % d.n_text_head != 0) {
    return fail(Fault::corrupt, "a state of " + std::to_string(d.n_audio_state) + " (encoder) or " +
                                    std::to_string(d.n_text_state) + " (decoder) does not divide into " +
                                    std::to_string(d.n_audio_head) + " and " + std::to_string(d.n_text_head) +
                                    " heads");
  }
  if (d.n_audio_state != d.n_text_state) {
    return fail(Fault::unsupported, "encoder state " + std::to_string(d.n_audio_state) + " and decoder state " +
                                        std::to_string(d.n_text_state) + " differ");
  }
  return {};
}

Result<WhisperShape> parse_hugging_face_config(std::string_view text) {
  const auto config = json::parse(text, nullptr, false);
  if (!config.is_object()) return fail(Fault::corrupt, "not a JSON object");
  TRY(check_kind(config));

  WhisperShape shape;
  auto& d = shape.dims;
  const std::pair<const char*, std::int32_t*> fields[] = {
      {"num_mel_bins", &d.n_mels},
      {"max_source_positions", &d.n_audio_ctx},
      {"d_model", &d.n_audio_state},
      {"encoder_attention_heads", &d.n_audio_head},
      {"encoder_layers", &d.n_audio_layer},
      {"vocab_size", &d.n_vocab},
      {"max_target_positions", &d.n_text_ctx},
      {"d_model", &d.n_text_state},
      {"decoder_attention_heads", &d.n_text_head},
      {"decoder_layers", &d.n_text_layer},
      {"encoder_ffn_dim", &shape.audio_mlp},
      {"decoder_ffn_dim", &shape.text_mlp},
  };
  for (const auto& [key, field] : fields) {
    auto value = TRY(number(config, key));
    *field = value;
  }
  TRY(check_shape(shape));
  return shape;
}

}  // namespace tutti
