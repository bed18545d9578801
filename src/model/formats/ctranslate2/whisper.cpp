#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/try.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kActivationGelu = 3;  // common_spec.Activation: its fourth, x * Phi(x)
constexpr std::int64_t kWhisperHead = 64;    // width of a head in every published Whisper
constexpr float kOldInt16Scale = 1000;       // scale of files that leave it out

std::optional<std::int64_t> whole_number(const StoredTensor& scalar) {
  const auto read = [&](auto value) -> std::optional<std::int64_t> {
    if (scalar.bytes.size() != sizeof value) return std::nullopt;
    std::memcpy(&value, scalar.bytes.data(), sizeof value);
    return value;
  };
  switch (scalar.type) {
    case ElementType::i8: return read(std::int8_t{});
    case ElementType::i16: return read(std::int16_t{});
    case ElementType::i32: return read(std::int32_t{});
    default: return std::nullopt;
  }
}

/// Takes the variables one by one, under OpenAI's names.
class Reader {
 public:
  explicit Reader(const Ctranslate2Variables& variables) : variables_(variables.by_name) {}

  Result<Ctranslate2Whisper> read() {
    TRY(check_kind());
    TRY(read_shape());
    const auto& d = model_.shape.dims;
    take("encoder/conv1", {"encoder.conv1"});
    take("encoder/conv2", {"encoder.conv2"});
    take_one("encoder/position_encodings/encodings", {"encoder.positional_embedding"});
    for (std::int32_t i = 0; i < d.n_audio_layer; ++i) take_layer("encoder", i, false);
    take_norm("encoder/layer_norm", "encoder.ln_post");
    take_one("decoder/embeddings/weight", {"decoder.token_embedding.weight"});
    take_one("decoder/position_encodings/encodings", {"decoder.positional_embedding"});
    for (std::int32_t i = 0; i < d.n_text_layer; ++i) take_layer("decoder", i, true);
    take_norm("decoder/layer_norm", "decoder.ln");
    take_rest();
    if (problem_) return tl::unexpected(*problem_);
    return std::move(model_);
  }

 private:
  const StoredTensor* find(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : &found->second;
  }

  /// Attributes that would change the network's arithmetic if they had another value.
  Result<void> check_kind() const {
    const std::pair<const char*, std::int64_t> expected[] = {
        {"decoder/activation", kActivationGelu},  {"decoder/pre_norm", 1}, {"decoder/scale_embeddings", 0},
        {"decoder/start_from_zero_embedding", 0}, {"decoder/alibi", 0},
    };
    for (const auto& [name, value] : expected) {
      const auto* scalar = find(name);
      const auto found = scalar ? whole_number(*scalar) : value;
      if (found != value)
        return fail(Fault::unsupported, std::string(name) + " is " + (found ? std::to_string(*found) : "no number") +
                                            "; Whisper's is " + std::to_string(value));
    }
    return {};
  }

  Result<std::int32_t> extent(const std::string& name, std::size_t axis, std::size_t rank) const {
    const auto* tensor = find(name);
    if (!tensor) return fail(Fault::corrupt, "variable '" + name + "' is missing");
    if (tensor->shape.size() != rank)
      return fail(Fault::corrupt, "variable '" + name + "' has the shape " + shape_text(tensor->shape) + ", expected " +
                                      std::to_string(rank) + " dimensions");
    return static_cast<std::int32_t>(std::min<std::int64_t>(tensor->shape[axis], INT32_MAX));
  }

  std::int32_t layers(const std::string& side) const {
    std::int32_t count = 0;
    while (find(side + "/layer_" + std::to_string(count) + "/ffn/linear_0/weight")) ++count;
    return count;
  }

  /// Files from before the attribute leave it out.
  std::int32_t heads(const std::string& side, std::int32_t state) const {
    const auto* scalar = find(side + "/num_heads");
    const auto count = scalar ? whole_number(*scalar) : state / kWhisperHead;
    return count && std::in_range<std::int32_t>(*count) ? static_cast<std::int32_t>(*count) : 0;
  }

  Result<void> read_shape() {
    auto& d = model_.shape.dims;
    struct Field {
      std::int32_t* value;
      const char* name;
      std::size_t axis;
      std::size_t rank;
    };
    const Field fields[] = {
        {&d.n_mels, "encoder/conv1/weight", 1, 3},
        {&d.n_audio_state, "encoder/conv1/weight", 0, 3},
        {&d.n_audio_ctx, "encoder/position_encodings/encodings", 0, 2},
        {&d.n_vocab, "decoder/embeddings/weight", 0, 2},
        {&d.n_text_state, "decoder/embeddings/weight", 1, 2},
        {&d.n_text_ctx, "decoder/position_encodings/encodings", 0, 2},
        {&model_.shape.audio_mlp, "encoder/layer_0/ffn/linear_0/weight", 0, 2},
        {&model_.shape.text_mlp, "decoder/layer_0/ffn/linear_0/weight", 0, 2},
    };
    for (const auto& field : fields) {
      const auto value = TRY(extent(field.name, field.axis, field.rank));
      *field.value = value;
    }
    d.n_audio_layer = layers("encoder");
    d.n_text_layer = layers("decoder");
    d.n_audio_head = heads("encoder", d.n_audio_state);
    d.n_text_head = heads("decoder", d.n_text_state);
    return check_shape(model_.shape);
  }

  void take_layer(const std::string& side, std::int32_t index, bool cross) {
    const auto from = side + "/layer_" + std::to_string(index);
    const auto to = side + ".blocks." + std::to_string(index);
    take_norm(from + "/self_attention/layer_norm", to + ".attn_ln");
    take(from + "/self_attention/linear_0", {to + ".attn.query", to + ".attn.key", to + ".attn.value"});
    take(from + "/self_attention/linear_1", {to + ".attn.out"});
    if (cross) {
      take_norm(from + "/attention/layer_norm", to + ".cross_attn_ln");
      take(from + "/attention/linear_0", {to + ".cross_attn.query"});
      take(from + "/attention/linear_1", {to + ".cross_attn.key", to + ".cross_attn.value"});
      take(from + "/attention/linear_2", {to + ".cross_attn.out"});
    }
    take_norm(from + "/ffn/layer_norm", to + ".mlp_ln");
    take(from + "/ffn/linear_0", {to + ".mlp.0"});
    take(from + "/ffn/linear_1", {to + ".mlp.2"});
  }

  void take_norm(const std::string& from, const std::string& to) {
    take_one(from + "/gamma", {to + ".weight"});
    take_one(from + "/beta", {to + ".bias"});
  }

  /// Weight and bias of a layer, or of several layers whose rows are stacked.
  void take(const std::string& from, const Names& to) {
    Names weights, biases;
    for (const auto& name : to) {
      weights.push_back(name + ".weight");
      biases.push_back(name + ".bias");
    }
    take_one(from + "/weight", weights);
    take_one(from + "/bias", biases);
  }

  void take_one(const std::string& from, const Names& to) {
    const auto* tensor = find(from);
    if (!tensor || problem_) return;  // the code that needs a missing tensor reports it, under both names
    taken_.insert(from);
    auto whole = with_scales(*tensor);
    if (!whole) {
      problem_ = whole.error();
    } else if (const auto parts = static_cast<std::int64_t>(to.size());
               whole->shape.empty() || whole->shape[0] % parts != 0) {
      problem_ = Error{Fault::corrupt, "variable '" + from + "' has the shape " + shape_text(whole->shape) +
                                           ", expected rows for " + std::to_string(parts) + " layers"};
    } else {
      for (std::size_t i = 0; i < to.size(); ++i) put_part(*whole, i, to.size(), to[i]);
    }
  }

  /// Whisper's keys have no bias; a fused layer carries zeros for them.
  void put_part(const StoredTensor& whole, std::size_t index, std::size_t parts, const std::string& name) {
    auto part = whole;
    part.shape[0] /= static_cast<std::int64_t>(parts);
    const auto size = whole.bytes.size() / parts;
    part.bytes = whole.bytes.subspan(index * size, size);
    if (!whole.row_scales.empty()) {
      const auto rows = static_cast<std::ptrdiff_t>(part.shape[0]);
      const auto begin = whole.row_scales.begin() + static_cast<std::ptrdiff_t>(index) * rows;
      part.row_scales.assign(begin, begin + rows);
    }
    if (!name.ends_with(".key.bias")) {
      model_.tensors.emplace_back(name, std::move(part));
      return;
    }
    if (!std::ranges::all_of(part.bytes, [](std::byte byte) { return byte == std::byte{}; }))
      problem_ = Error{Fault::unsupported, "variable '" + whole.name + "': a bias of the keys; Whisper's have none"};
  }

  /// CTranslate2 divides by its scales: 127 / the largest of the row.
  Result<StoredTensor> with_scales(const StoredTensor& tensor) {
    StoredTensor scaled = tensor;
    if (tensor.shape.empty() || (tensor.type != ElementType::i8 && tensor.type != ElementType::i16)) return scaled;
    if (tensor.bytes.empty()) return fail(Fault::corrupt, "variable '" + tensor.name + "' is empty");
    const auto name = tensor.name + "_scale";
    const auto rows = static_cast<std::size_t>(tensor.shape[0]);
    const auto* scale = find(name);
    taken_.insert(name);
    if (!scale && tensor.type == ElementType::i16) {
      scaled.row_scales.assign(rows, 1 / kOldInt16Scale);
      return scaled;
    }
    if (!scale) return fail(Fault::corrupt, "variable '" + name + "' is missing");
    const auto count = scale->bytes.size() / sizeof(float);
    if (scale->type != ElementType::f32 || (count != rows && !scale->shape.empty()))
      return fail(Fault::corrupt, "variable '" + name + "' is " + std::string(name_of(scale->type)) + " " +
                                      shape_text(scale->shape) + ", expected F32 [" + std::to_string(rows) + "]");
    for (std::size_t row = 0; row < rows; ++row) {
      float divisor = 0;
      std::memcpy(&divisor, scale->bytes.data() + (scale->shape.empty() ? 0 : row) * sizeof divisor, sizeof divisor);
      if (!std::isfinite(divisor) || divisor <= 0)
        return fail(Fault::corrupt,
                    "variable '" + name + "': the scale of row " + std::to_string(row) + " is no scale");
      scaled.row_scales.push_back(1 / divisor);
    }
    return scaled;
  }

  /// What belongs to no part of Whisper keeps its name; the code that binds the weights warns of it.
  void take_rest() {
    for (const auto& [name, tensor] : variables_)
      if (!tensor.shape.empty() && !taken_.contains(name) && !name.starts_with("decoder/projection/"))
        model_.tensors.emplace_back(name, tensor);
  }

  const std::map<std::string, StoredTensor, std::less<>>& variables_;
  Ctranslate2Whisper model_;
  std::set<std::string> taken_;
  std::optional<Error> problem_;
};

}  // namespace

Result<Ctranslate2Whisper> parse_ctranslate2_whisper(std::span<const std::byte> file) {
  const auto variables = TRY(parse_ctranslate2(file));
  if (variables.spec != "WhisperSpec")
    return fail(Fault::unsupported, "a CTranslate2 model of kind '" + variables.spec + "', expected WhisperSpec");
  return Reader(variables).read();
}

}  // namespace tutti
