#include "model/weights.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <unordered_set>

#include "base/log.h"
#include "base/try.h"
#include "model/cpu/matrix/kernels.h"
#include "model/cpu/matrix/packed_matrix.h"
#include "model/cpu/parallel.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

/// Collects slots under a growing name prefix.
class Slots {
 public:
  void tensor(std::string name, std::vector<std::int64_t> shape, at::Tensor& at) {
    slots_.push_back({std::move(name), std::move(shape), &at});
  }
  void linear(const std::string& name, std::int64_t in, std::int64_t out, ops::Linear& layer, bool bias = true) {
    tensor(name + ".weight", {out, in}, layer.weight);
    if (bias) tensor(name + ".bias", {out}, layer.bias);
  }
  void norm(const std::string& name, std::int64_t n, ops::Norm& norm) {
    tensor(name + ".weight", {n}, norm.weight);
    tensor(name + ".bias", {n}, norm.bias);
  }
  void conv(const std::string& name, std::int64_t in, std::int64_t out, ops::Conv& conv) {
    tensor(name + ".weight", {out, in, 3}, conv.weight);
    tensor(name + ".bias", {out}, conv.bias);
  }
  void attention(const std::string& name, std::int64_t n, AttentionWeights& attention) {
    linear(name + ".query", n, n, attention.query);
    linear(name + ".key", n, n, attention.key, /*bias=*/false);
    linear(name + ".value", n, n, attention.value);
    linear(name + ".out", n, n, attention.out);
  }
  void block(const std::string& name, std::int64_t n, std::int64_t mlp, bool cross, BlockWeights& block) {
    norm(name + ".attn_ln", n, block.attn_norm);
    attention(name + ".attn", n, block.attn);
    if (cross) {
      norm(name + ".cross_attn_ln", n, block.cross_norm);
      attention(name + ".cross_attn", n, block.cross);
    }
    norm(name + ".mlp_ln", n, block.mlp_norm);
    linear(name + ".mlp.0", n, mlp, block.mlp_in);
    linear(name + ".mlp.2", mlp, n, block.mlp_out);
  }
  std::vector<WeightSlot> take() { return std::move(slots_); }

 private:
  std::vector<WeightSlot> slots_;
};

}  // namespace

std::vector<WeightSlot> weight_slots(WhisperWeights& weights, const WhisperShape& shape) {
  const auto& d = shape.dims;
  weights.encoder.resize(static_cast<std::size_t>(d.n_audio_layer));
  weights.decoder.resize(static_cast<std::size_t>(d.n_text_layer));
  Slots slots;
  slots.conv("encoder.conv1", d.n_mels, d.n_audio_state, weights.conv1);
  slots.conv("encoder.conv2", d.n_audio_state, d.n_audio_state, weights.conv2);
  slots.tensor("encoder.positional_embedding", {d.n_audio_ctx, d.n_audio_state}, weights.audio_positions);
  for (std::size_t i = 0; i < weights.encoder.size(); ++i) {
    slots.block("encoder.blocks." + std::to_string(i), d.n_audio_state, shape.audio_mlp, false, weights.encoder[i]);
  }
  slots.norm("encoder.ln_post", d.n_audio_state, weights.encoder_norm);
  slots.tensor("decoder.token_embedding.weight", {d.n_vocab, d.n_text_state}, weights.tokens);
  slots.tensor("decoder.positional_embedding", {d.n_text_ctx, d.n_text_state}, weights.text_positions);
  for (std::size_t i = 0; i < weights.decoder.size(); ++i) {
    slots.block("decoder.blocks." + std::to_string(i), d.n_text_state, shape.text_mlp, true, weights.decoder[i]);
  }
  slots.norm("decoder.ln", d.n_text_state, weights.decoder_norm);
  return slots.take();
}

namespace {

at::ScalarType scalar_type(ElementType type) {
  switch (type) {
    case ElementType::f16: return at::kHalf;
    case ElementType::bf16: return at::kBFloat16;
    default: return at::kFloat;
  }
}

bool is_within(const MappedFile& file, std::span<const std::byte> bytes) {
  const auto all = file.bytes();
  return bytes.data() >= all.data() && bytes.data() + bytes.size() <= all.data() + all.size();
}

/// Returns to the system the whole pages of a part of a mapped file. They are the file's: a later reader gets them
/// again.
void release_pages(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): whole pages have no other pointer.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// The tensor as it is in the mapping. It keeps the checkpoint alive.
at::Tensor mapped(const StoredTensor& stored, std::shared_ptr<const Checkpoint> owner) {
  // from_blob wants a mutable pointer; the pages are read-only, and nothing writes to weights.
  auto* data = const_cast<std::byte*>(stored.bytes.data());
  // Once it has been packed or copied to a device no model is held twice.
  const auto done = [owner = std::move(owner), bytes = stored.bytes](void*) {
    if (std::ranges::any_of(owner->files, [&](const MappedFile& file) { return is_within(file, bytes); }))
      release_pages(bytes);
  };
  return at::from_blob(data, stored.shape, done, at::TensorOptions(scalar_type(stored.type)));
}

/// Old files may put data at odd addresses; arithmetic on those would be undefined, a byte-wise copy is not.
at::Tensor aligned_copy(const StoredTensor& stored) {
  auto copy = at::empty(stored.shape, at::TensorOptions(scalar_type(stored.type)));
  std::memcpy(copy.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return copy;
}

/// Scales multiplied out, in float32.
at::Tensor dequantised(const StoredTensor& stored) {
  auto values = at::empty(stored.shape, at::TensorOptions(at::kFloat));
  const auto width = static_cast<std::size_t>(values[0].numel());
  auto* out = values.mutable_data_ptr<float>();
  for_each_unit(stored.shape[0], [&](std::int64_t row) {
    read_row(stored, row, {out + static_cast<std::size_t>(row) * width, width});
  });
  return values;
}

/// The output layer is the token embedding, yet some files carry it twice.
bool is_known_extra(const std::string& name) {
  return name == "proj_out.weight";
}

void warn_of_unused(const Checkpoint& checkpoint, const std::vector<WeightSlot>& slots) {
  std::unordered_set<std::string> used;
  for (const auto& slot : slots) used.insert(slot.name);
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (used.contains(name) || is_known_extra(name)) continue;
    log(Level::warning, checkpoint.path.string() + ": tensor '" + tensor.name + "' " + shape_text(tensor.shape) +
                            " belongs to no part of a Whisper model and is not used");
  }
}

}  // namespace

at::Tensor stored_values(const StoredTensor& stored, const std::shared_ptr<const Checkpoint>& owner) {
  if (is_quantised(stored)) return dequantised(stored);
  const bool aligned = reinterpret_cast<std::uintptr_t>(stored.bytes.data()) % size_of(stored.type) == 0;
  return aligned ? mapped(stored, owner) : aligned_copy(stored);
}

Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint) {
  const c10::InferenceMode guard;
  WhisperWeights weights;
  const auto slots = weight_slots(weights, checkpoint->shape);
  for (const auto& slot : slots) {
    const auto stored = TRY(find_tensor(*checkpoint, slot.name, slot.shape));
    *slot.tensor = stored_values(*stored, checkpoint);
  }
  warn_of_unused(*checkpoint, slots);
  return weights;
}

void release_read_pages(const Checkpoint& checkpoint) {
  for (const auto& file : checkpoint.files) release_pages(file.bytes());
}

WhisperWeights random_weights(const WhisperShape& shape, at::Device device) {
  const c10::InferenceMode guard;
  WhisperWeights weights;
  for (const auto& slot : weight_slots(weights, shape)) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < slot.shape.size(); ++i) fan_in *= slot.shape[i];
    const double scale = 1 / std::sqrt(static_cast<double>(fan_in));
    const bool is_norm_scale = slot.shape.size() == 1 && slot.name.ends_with(".weight");
    auto values =
        at::randn(slot.shape, at::TensorOptions(at::kFloat).device(device)).mul_(slot.shape.size() == 1 ? 0.02 : scale);
    if (is_norm_scale) values.add_(1.0);
    *slot.tensor = std::move(values);
  }
  return weights;
}

namespace {

/// Side by side, with zeros for a bias that is missing.
ops::Linear joined(std::initializer_list<ops::Linear*> layers) {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (auto* layer : layers) {
    weights.push_back(layer->weight);
    biases.push_back(layer->bias.defined() ? layer->bias : at::zeros({layer->weight.size(0)}, layer->weight.options()));
    *layer = {};
  }
  return {.weight = at::cat(weights), .bias = at::cat(biases)};
}

class Preparation {
 public:
  Preparation(ComputeType type, at::Device device) : type_(type), device_(device), layout_(layout_of(type, device)) {}

  void whole(WhisperWeights& net) const {
    convolution(net.conv1);
    convolution(net.conv2);
    plain(net.audio_positions);
    for (auto& block : net.encoder) this->block(block, window_precision());
    norm(net.encoder_norm);
    net.output = {.weight = net.tokens};
    layer(net.output, output_precision());
    if (!layout_.own_kernels) net.tokens = net.output.weight;
    plain(net.text_positions);
    for (auto& block : net.decoder) this->block(block, step_precision());
    norm(net.decoder_norm);
  }

 private:
  void plain(at::Tensor& tensor) const {
    if (tensor.defined()) tensor = tensor.to(device_, layout_.activations);
  }

  void norm(ops::Norm& norm) const {
    plain(norm.weight);
    plain(norm.bias);
  }

  /// What is computed once a window, where the matrix units are busy. int8 takes sixteen bits for it, too: with weights
  /// of eight the encoder's cosine with float32 is below 0.999 (docs/compute-types.md).
  WeightPrecision window_precision() const {
    if (type_.keeps_float32()) return WeightPrecision::float32;
    return type_.scales_to_int8() && !multiplies_bfloat16() ? WeightPrecision::int16 : WeightPrecision::bfloat16;
  }

  /// What is computed for every token, where everything waits for the weights.
  WeightPrecision step_precision() const { return type_.scales_to_int8() ? WeightPrecision::int8 : window_precision(); }

  /// Own kernels compute the likeliest once more; torch shares the embedding, in the activations' type.
  WeightPrecision output_precision() const {
    return type_.keeps_float32() || !layout_.own_kernels ? window_precision() : WeightPrecision::int8;
  }

  std::shared_ptr<const PackedMatrix> packed(const at::Tensor& weight, const at::Tensor& bias,
                                             WeightPrecision precision) const {
    constexpr std::int64_t kSixteenBits = 2;  // parts of int8 rows: they cost a step nothing, and eight change tokens
    return std::make_shared<const PackedMatrix>(pack(weight, bias, precision, kSixteenBits));
  }

  void layer(ops::Linear& layer, WeightPrecision precision) const {
    if (layout_.own_kernels) {
      layer = {.packed = packed(layer.weight, layer.bias, precision)};
      return;
    }
    if (precision == WeightPrecision::int8) {
      const auto wide = layer.weight.to(device_, at::kFloat);
      const auto scale = wide.abs().amax(1).div_(127).clamp_min_(1e-12);
      layer.weight = at::round(wide / scale.unsqueeze(1)).to(at::kChar);
      layer.scale = scale;
      if (layer.bias.defined()) layer.bias = layer.bias.to(device_, at::kFloat);
      return;
    }
    plain(layer.weight);
    plain(layer.bias);
  }

  void convolution(ops::Conv& conv) const {
    if (layout_.own_kernels) {
      const auto taps = conv.weight.transpose(1, 2).flatten(1);
      conv = {.packed = packed(taps, conv.bias, window_precision())};
      return;
    }
    plain(conv.weight);
    plain(conv.bias);
  }

  void block(BlockWeights& block, WeightPrecision precision) const {
    norm(block.attn_norm);
    block.attn.joined = joined({&block.attn.query, &block.attn.key, &block.attn.value});
    // The decoder's layer whose rounding changes most tokens.
    layer(block.attn.joined, window_precision());
    layer(block.attn.out, precision);
    if (block.cross.query.weight.defined()) {
      norm(block.cross_norm);
      layer(block.cross.query, precision);
      block.cross.joined = joined({&block.cross.key, &block.cross.value});
      layer(block.cross.joined, window_precision());
      layer(block.cross.out, precision);
    }
    norm(block.mlp_norm);
    layer(block.mlp_in, precision);
    layer(block.mlp_out, precision);
  }

  ComputeType type_;
  at::Device device_;
  Layout layout_;
};

}  // namespace

void prepare(WhisperWeights& weights, ComputeType type, at::Device device) {
  const c10::InferenceMode guard;
  Preparation(type, device).whole(weights);
}

}  // namespace tutti
