#include "model/prepare.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <initializer_list>

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

/// How int8 rounds a layer's input: eight bits are too few where few of its numbers are large (what attention gives)
/// and where a token hangs on it, and a decoder step, which waits for weights, gets sixteen for nothing.
enum class Rows { coarse, fine };

class Preparation {
 public:
  Preparation(ComputeType type, at::Device device) : type_(type), device_(device), layout_(layout_of(type, device)) {}

  void whole(WhisperWeights& net) const {
    convolution(net.conv1);
    convolution(net.conv2);
    plain(net.audio_positions);
    for (auto& block : net.encoder) this->block(block, Rows::coarse);
    norm(net.encoder_norm);
    net.output = {.weight = net.tokens};
    layer(net.output, Rows::fine);
    if (!layout_.own_kernels) plain(net.tokens);
    plain(net.text_positions);
    for (auto& block : net.decoder) this->block(block, Rows::fine);
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

  Precision precision() const {
    if (type_.scales_to_int8()) return Precision::int8;
    return type_ == ComputeType::bfloat16 ? Precision::bfloat16 : Precision::float32;
  }

  std::shared_ptr<const PackedMatrix> packed(const at::Tensor& weight, const at::Tensor& bias, Rows rows) const {
    return std::make_shared<const PackedMatrix>(pack(weight, bias, precision(), rows == Rows::fine ? 2 : 1));
  }

  void layer(ops::Linear& layer, Rows rows) const {
    if (layout_.own_kernels) {
      layer = {.packed = packed(layer.weight, layer.bias, rows)};
      return;
    }
    if (type_.scales_to_int8()) {
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
      conv = {.packed = packed(taps, conv.bias, Rows::fine)};
      return;
    }
    plain(conv.weight);
    plain(conv.bias);
  }

  void block(BlockWeights& block, Rows rows) const {
    norm(block.attn_norm);
    block.attn.joined = joined({&block.attn.query, &block.attn.key, &block.attn.value});
    layer(block.attn.joined, rows);
    layer(block.attn.out, Rows::fine);
    if (block.cross.query.weight.defined()) {
      norm(block.cross_norm);
      layer(block.cross.query, rows);
      block.cross.joined = joined({&block.cross.key, &block.cross.value});
      layer(block.cross.joined, Rows::coarse);
      layer(block.cross.out, rows);
    }
    norm(block.mlp_norm);
    layer(block.mlp_in, rows);
    layer(block.mlp_out, rows);
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
