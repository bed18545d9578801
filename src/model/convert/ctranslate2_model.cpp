#include "model/convert/ctranslate2_model.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/try.h"
#include "model/convert/hugging_face_files.h"
#include "text/files/vocabulary_files.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kBinaryVersion = 6;
constexpr std::uint32_t kWhisperRevision = 3;

/// A tensor of a variable; several follow one another, row under row.
struct Part {
  const StoredTensor* tensor = nullptr;  // null: zeros, the bias that Whisper's keys do not have
  std::vector<std::int64_t> shape{};
};

/// One entry of the file: parts of the network, by their order, or a whole number.
struct Variable {
  std::map<int, Part> parts{};
  ElementType scalar_type = ElementType::i8;
  std::int16_t scalar = 0;
};

using Variables = std::map<std::string, Variable>;

void replace(std::string& name, std::string_view from, std::string_view to) {
  if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
}

/// OpenAI's name to the variable's: "decoder.blocks.0.mlp.0.bias" -> "decoder/layer_0/ffn/linear_0/bias". Those of
/// fused layers come to one.
std::string variable_of(std::string name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kPairs{{
      {".cross_attn_ln.", "/attention/layer_norm/"},
      {".attn_ln.", "/self_attention/layer_norm/"},
      {".mlp_ln.", "/ffn/layer_norm/"},
      {".cross_attn.query.", "/attention/linear_0/"},
      {".cross_attn.key.", "/attention/linear_1/"},
      {".cross_attn.value.", "/attention/linear_1/"},
      {".cross_attn.out.", "/attention/linear_2/"},
      {".attn.query.", "/self_attention/linear_0/"},
      {".attn.key.", "/self_attention/linear_0/"},
      {".attn.value.", "/self_attention/linear_0/"},
      {".attn.out.", "/self_attention/linear_1/"},
      {".mlp.0.", "/ffn/linear_0/"},
      {".mlp.2.", "/ffn/linear_1/"},
      {".blocks.", "/layer_"},
      {".ln_post.", "/layer_norm/"},
      {".ln.", "/layer_norm/"},
      {".positional_embedding", "/position_encodings/encodings"},
      {".token_embedding.", "/embeddings/"},
      {".conv", "/conv"},
  }};
  for (const auto& [from, to] : kPairs) replace(name, from, to);
  std::ranges::replace(name, '.', '/');
  if (name.find("layer_norm/") != std::string::npos) {
    replace(name, "/weight", "/gamma");
    replace(name, "/bias", "/beta");
  }
  return name;
}

/// Query, key, value: their order in a fused layer.
int order_of(std::string_view name) {
  if (name.find(".key.") != name.npos) return 1;
  return name.find(".value.") != name.npos ? 2 : 0;
}

/// What the network is beside its weights, as CTranslate2's own converter writes it.
void add_scalars(const WhisperDims& dims, Variables& variables) {
  const auto add = [&](const std::string& name, ElementType type, std::int32_t value) {
    variables[name] = {.scalar_type = type, .scalar = static_cast<std::int16_t>(value)};
  };
  add("encoder/num_heads", ElementType::i16, dims.n_audio_head);
  add("decoder/num_heads", ElementType::i16, dims.n_text_head);
  add("decoder/alignment_heads", ElementType::i16, 1);
  add("decoder/alignment_layer", ElementType::i16, -1);
  constexpr std::int32_t kGelu = 3;  // common_spec.Activation: its fourth
  add("decoder/activation", ElementType::i8, kGelu);
  add("decoder/pre_norm", ElementType::i8, 1);
  for (const char* name :
       {"alibi", "alibi_use_positive_positions", "scale_alibi", "scale_embeddings", "start_from_zero_embedding"})
    add(std::string("decoder/") + name, ElementType::i8, 0);
}

Variables variables_of(const Checkpoint& checkpoint, const std::vector<NetworkTensor>& tensors) {
  Variables variables;
  for (const auto& tensor : tensors) {
    auto& parts = variables[variable_of(tensor.name)].parts;
    parts[order_of(tensor.name)] = {tensor.stored, tensor.stored->shape};
    if (tensor.name.ends_with(".value.bias")) parts[1] = {nullptr, tensor.stored->shape};
  }
  add_scalars(checkpoint.shape.dims, variables);
  return variables;
}

std::uint8_t type_number(ElementType type) {
  switch (type) {
    case ElementType::i8: return 1;
    case ElementType::i16: return 2;
    case ElementType::f16: return 4;
    case ElementType::bf16: return 5;
    default: return 0;  // float32
  }
}

/// What CTranslate2 quantises: matrices, the embedding and convolutions; not positions, norms and biases.
bool becomes_int8(const std::string& name, WeightType type) {
  return type == WeightType::int8 && name.ends_with("/weight");
}

ElementType element_type(const std::string& name, WeightType type) {
  if (becomes_int8(name, type)) return ElementType::i8;
  if (type == WeightType::float16) return ElementType::f16;
  return type == WeightType::bfloat16 ? ElementType::bf16 : ElementType::f32;
}

/// Writes variables one after the other.
class Writer {
 public:
  Writer(std::shared_ptr<const Checkpoint> checkpoint, WeightType type, int fd, std::string thing)
      : checkpoint_(std::move(checkpoint)), type_(type), fd_(fd), thing_(std::move(thing)) {}

  Result<std::uint64_t> write(const Variables& variables) {
    std::uint32_t count = 0;
    for (const auto& [name, variable] : variables) count += 1 + (becomes_int8(name, type_) ? 1 : 0);
    number(kBinaryVersion);
    text("WhisperSpec");
    number(kWhisperRevision);
    number(count);
    for (const auto& [name, variable] : variables) {
      if (variable.parts.empty())
        put_scalar(name, variable);
      else
        put_weights(name, variable);
    }
    number(std::uint32_t{1});
    text("decoder/projection/weight");  // the same as that of the embedding, and its divisors
    text("decoder/embeddings/weight");
    if (done_ && ::fsync(fd_) != 0) done_ = fail_errno(thing_, "could not be synced");
    TRY(done_);
    return size_;
  }

 private:
  void bytes(std::span<const std::byte> some) {
    if (done_) done_ = write_all(fd_, some, thing_);
    size_ += some.size();
  }
  template <class T>
  void number(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  /// Its length with the closing zero, its characters, and that zero.
  void text(const std::string& text) {
    number(static_cast<std::uint16_t>(text.size() + 1));
    bytes(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  }

  void head(const std::string& name, const std::vector<std::int64_t>& shape, ElementType type) {
    text(name);
    number(static_cast<std::uint8_t>(shape.size()));
    for (const auto extent : shape) number(static_cast<std::uint32_t>(extent));
    number(type_number(type));
    number(static_cast<std::uint32_t>(byte_count(shape, type).value_or(0)));
  }

  void put_scalar(const std::string& name, const Variable& variable) {
    head(name, {}, variable.scalar_type);
    if (variable.scalar_type == ElementType::i8)
      number(static_cast<std::int8_t>(variable.scalar));
    else
      number(variable.scalar);
  }

  void put_weights(const std::string& name, const Variable& variable) {
    auto shape = variable.parts.begin()->second.shape;
    shape[0] = 0;
    for (const auto& [order, part] : variable.parts) shape[0] += part.shape[0];
    head(name, shape, element_type(name, type_));
    std::vector<float> divisors;
    for (const auto& [order, part] : variable.parts)
      if (done_) done_ = put_part(name, part, divisors);
    if (!becomes_int8(name, type_)) return;
    head(name + "_scale", {shape[0]}, ElementType::f32);
    bytes(std::as_bytes(std::span(divisors)));
  }

  /// Its values; its divisors go behind `divisors`.
  Result<void> put_part(const std::string& name, const Part& part, std::vector<float>& divisors) {
    if (!part.tensor) {
      bytes(std::vector<std::byte>(byte_count(part.shape, element_type(name, type_)).value_or(0)));
      return done_;
    }
    const bool rows = becomes_int8(name, type_);
    StoredTensor stored = *part.tensor;
    if (rows && stored.shape.size() == 3) stored.shape = {stored.shape[0], stored.shape[1] * stored.shape[2]};
    bool are_factors = false;
    const auto converted = convert_tensor(stored, rows ? "weight" : name, checkpoint_, rows ? type_ : wide_type(),
                                          [&](std::span<const std::byte> some) {
                                            if (are_factors)
                                              add_divisors(some, divisors);
                                            else
                                              bytes(some);
                                            are_factors = rows;
                                            return done_;
                                          });
    return converted ? done_ : converted;
  }

  WeightType wide_type() const { return type_ == WeightType::int8 ? WeightType::float32 : type_; }

  /// We multiply by factors, CTranslate2 divides.
  static void add_divisors(std::span<const std::byte> factors, std::vector<float>& divisors) {
    for (std::size_t at = 0; at < factors.size(); at += sizeof(float)) {
      float factor = 1;
      std::memcpy(&factor, factors.data() + at, sizeof factor);
      divisors.push_back(1 / factor);
    }
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  WeightType type_;
  int fd_;
  std::string thing_;
  Result<void> done_{};
  std::uint64_t size_ = 0;
};

/// The names of all tokens by id, text in byte-level form.
Result<Json> vocabulary_of(const std::string& tokenizer_json, const SpecialTokens& special, std::int32_t n_vocab) {
  const auto file = TRY(parse_tokenizer_json(tokenizer_json));
  std::vector<std::string> names(static_cast<std::size_t>(n_vocab));
  for (std::size_t id = 0; id < std::min(names.size(), file.tokens.size()); ++id)
    names[id] = byte_level_of_bytes(file.tokens[id]);
  for (const auto& added : file.added)
    if (added.id >= 0 && added.id < n_vocab) names[static_cast<std::size_t>(added.id)] = added.content;
  for (std::int32_t id = special.timestamp_begin; id < n_vocab; ++id) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "<|%.2f|>", 0.02 * (id - special.timestamp_begin));
    names[static_cast<std::size_t>(id)] = name.data();
  }
  return Json(names);
}

}  // namespace

Result<std::uint64_t> write_ctranslate2_weights(const std::shared_ptr<const Checkpoint>& checkpoint,
                                                const std::vector<NetworkTensor>& tensors, WeightType type, int fd,
                                                const std::string& thing) {
  return Writer(checkpoint, type, fd, thing).write(variables_of(*checkpoint, tensors));
}

Result<std::map<std::string, std::string>> ctranslate2_files(const Checkpoint& checkpoint) {
  auto files = hugging_face_files(checkpoint, WeightType::float32);
  if (!files) return files;
  const auto n_vocab = checkpoint.shape.dims.n_vocab;
  const auto tokenizer = TRY(Tokenizer::load(checkpoint.path, n_vocab));
  const auto vocabulary = TRY(vocabulary_of((*files)["tokenizer.json"], tokenizer.special(), n_vocab));
  const auto generation = Json::parse((*files)["generation_config.json"], nullptr, false);
  Json config = Json::object();
  for (const auto& [ours, theirs] : {std::pair("alignment_heads", "alignment_heads"),
                                     {"suppress_ids", "suppress_tokens"},
                                     {"suppress_ids_begin", "begin_suppress_tokens"}})
    config[ours] = generation.is_object() && generation.contains(theirs) ? generation[theirs] : Json::array();
  config["lang_ids"] = tokenizer.special().languages;
  for (const auto& [key, value] : audio_settings(checkpoint.path)) config[key] = value;
  return std::map<std::string, std::string>{
      {"config.json", config.dump(2) + "\n"},
      {"vocabulary.json", vocabulary.dump(1) + "\n"},
      {"tokenizer.json", std::move((*files)["tokenizer.json"])},
      {"preprocessor_config.json", std::move((*files)["preprocessor_config.json"])}};
}

}  // namespace tutti
