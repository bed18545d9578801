#include "model/convert/hugging_face_files.h"

#include <utility>

#include "base/json.h"
#include "base/try.h"
#include "hub/model_files.h"
#include "model/alignment_heads.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Those a Hugging Face folder may have of its tokenizer.
constexpr const char* kTokenizerFiles[] = {"tokenizer.json", "tokenizer_config.json",   "vocab.json",
                                           "merges.txt",     "special_tokens_map.json", "added_tokens.json",
                                           "normalizer.json"};

Json read_json(const fs::path& path) {
  const auto text = read_regular_file(path);
  const auto json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() ? json : Json::object();
}

std::string text_of(const Json& json) {
  return json.dump(1) + "\n";
}

/// config.json of a model that has none of Hugging Face's.
Json made_config(const WhisperShape& shape, const SpecialTokens& special) {
  const auto& d = shape.dims;
  return {{"model_type", "whisper"},
          {"architectures", {"WhisperForConditionalGeneration"}},
          {"d_model", d.n_text_state},
          {"encoder_layers", d.n_audio_layer},
          {"encoder_attention_heads", d.n_audio_head},
          {"encoder_ffn_dim", shape.audio_mlp},
          {"decoder_layers", d.n_text_layer},
          {"decoder_attention_heads", d.n_text_head},
          {"decoder_ffn_dim", shape.text_mlp},
          {"vocab_size", d.n_vocab},
          {"num_mel_bins", d.n_mels},
          {"max_source_positions", d.n_audio_ctx},
          {"max_target_positions", d.n_text_ctx},
          {"activation_function", "gelu"},
          {"scale_embedding", false},
          {"is_encoder_decoder", true},
          {"bos_token_id", special.eot},
          {"eos_token_id", special.eot},
          {"pad_token_id", special.eot},
          {"decoder_start_token_id", special.sot}};
}

Json made_generation_config(const fs::path& model, const WhisperDims& dims, const Tokenizer& tokenizer) {
  const auto& special = tokenizer.special();
  Json heads = Json::array();
  for (const auto& head : alignment_heads(model, dims)) heads.push_back({head.layer, head.head});
  auto suppressed = tokenizer.non_speech_tokens();
  for (const auto id :
       {special.sot, special.translate, special.transcribe, special.sot_lm, special.sot_prev, special.no_speech})
    suppressed.push_back(id);
  Json first = tokenizer.blank();
  first.push_back(special.eot);
  Json config{{"alignment_heads", heads},
              {"begin_suppress_tokens", first},
              {"bos_token_id", special.eot},
              {"decoder_start_token_id", special.sot},
              {"eos_token_id", special.eot},
              {"is_multilingual", special.multilingual},
              {"max_initial_timestamp_index", 50},
              {"max_length", dims.n_text_ctx},
              {"no_timestamps_token_id", special.no_timestamps},
              {"pad_token_id", special.eot},
              {"prev_sot_token_id", special.sot_prev},
              {"return_timestamps", false},
              {"suppress_tokens", suppressed}};
  if (!special.multilingual) return config;
  for (std::size_t i = 0; i < special.languages.size(); ++i)
    config["lang_to_id"]["<|" + special.language_codes[i] + "|>"] = special.languages[i];
  config["task_to_id"] = {{"transcribe", special.transcribe}, {"translate", special.translate}};
  return config;
}

Json made_preprocessor_config(const WhisperDims& dims) {
  const std::int32_t frames = 2 * dims.n_audio_ctx;
  return {{"feature_extractor_type", "WhisperFeatureExtractor"},
          {"processor_class", "WhisperProcessor"},
          {"chunk_length", frames / 100},
          {"feature_size", dims.n_mels},
          {"hop_length", 160},
          {"n_fft", 400},
          {"n_samples", frames * 160},
          {"nb_max_frames", frames},
          {"padding_side", "right"},
          {"padding_value", 0.0},
          {"return_attention_mask", false},
          {"sampling_rate", 16000}};
}

/// Records which type the weights have. A reader that does not know our int8 must not take the numbers for weights: the
/// `quantization_config` stops transformers.
void describe_weights(Json& config, WeightType type) {
  config.erase("quantization_config");
  config.erase("dtype");
  config["torch_dtype"] = type == WeightType::int8 ? "float32" : std::string(name_of(type));
  if (type == WeightType::int8)
    config["quantization_config"] = {{"quant_method", "tutti-int8"},
                                     {"bits", 8},
                                     {"weight", "int8 [rows, columns]"},
                                     {"weight_scale", "float32 [rows]; value = weight * weight_scale[row]"}};
}

}  // namespace

std::map<std::string, std::string> audio_settings(const std::filesystem::path& model) {
  std::map<std::string, std::string> found;
  const Json config = read_json(model / "config.json");
  for (const auto& [key, value] : config.items())
    if (key.starts_with("tutti_") && value.is_string()) found[key] = value;
  return found;
}

Result<std::map<std::string, std::string>> hugging_face_files(const Checkpoint& checkpoint, WeightType type) {
  const auto& path = checkpoint.path;
  const auto n_vocab = checkpoint.shape.dims.n_vocab;
  const auto tokenizer = TRY(Tokenizer::load(path, n_vocab));

  const bool hugging_face = kind_of(path) == ModelKind::hugging_face;
  auto config = hugging_face ? read_json(path / "config.json") : made_config(checkpoint.shape, tokenizer.special());
  for (const auto& [key, value] : audio_settings(path)) config[key] = value;
  describe_weights(config, type);
  std::map<std::string, std::string> files{{"config.json", text_of(config)}};
  for (const char* name : kTokenizerFiles)
    if (auto text = read_regular_file(path / name)) files[name] = std::move(*text);
  if (!files.contains("tokenizer.json")) files["tokenizer.json"] = tokenizer.to_json(n_vocab);
  auto generation = read_regular_file(path / "generation_config.json");
  files["generation_config.json"] =
      generation ? std::move(*generation) : text_of(made_generation_config(path, checkpoint.shape.dims, tokenizer));
  auto preprocessor = read_regular_file(path / "preprocessor_config.json");
  files["preprocessor_config.json"] =
      preprocessor ? std::move(*preprocessor) : text_of(made_preprocessor_config(checkpoint.shape.dims));
  return files;
}

std::map<std::string, std::string> new_hugging_face_files(const WhisperShape& shape, const Tokenizer& tokenizer,
                                                          WeightType type) {
  auto config = made_config(shape, tokenizer.special());
  describe_weights(config, type);
  return {{"config.json", text_of(config)},
          {"generation_config.json", text_of(made_generation_config({}, shape.dims, tokenizer))},
          {"preprocessor_config.json", text_of(made_preprocessor_config(shape.dims))},
          {"tokenizer.json", tokenizer.to_json(shape.dims.n_vocab)}};
}

}  // namespace tutti
