#include "model/weights/prepare.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <initializer_list>

#include "model/cpu/instructions.h"
#include "model/cpu/matrix/packed_matrix.h"

namespace tutti {
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
    constexpr std::int64_t kSixteenBits = 2;  // of int8 rows: they cost a step nothing, and eight change tokens
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
