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

class Preparation {
 public:
  Preparation(ComputeType type, at::Device device) : type_(type), device_(device), layout_(layout_of(type, device)) {}

  void whole(WhisperWeights& net) const {
    convolution(net.conv1);
    convolution(net.conv2);
    plain(net.audio_positions);
    for (auto& block : net.encoder) this->block(block);
    norm(net.encoder_norm);
    net.output = {.weight = net.tokens};
    layer(net.output);
    if (!layout_.own_kernels) plain(net.tokens);
    plain(net.text_positions);
    for (auto& block : net.decoder) this->block(block);
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

  void layer(ops::Linear& layer) const {
    if (layout_.own_kernels) {
      layer = {.packed = std::make_shared<const PackedMatrix>(pack(layer.weight, layer.bias, precision()))};
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
      conv = {.packed = std::make_shared<const PackedMatrix>(pack(taps, conv.bias, precision()))};
      return;
    }
    plain(conv.weight);
    plain(conv.bias);
  }

  void block(BlockWeights& block) const {
    norm(block.attn_norm);
    block.attn.joined = joined({&block.attn.query, &block.attn.key, &block.attn.value});
    layer(block.attn.joined);
    layer(block.attn.out);
    if (block.cross.query.weight.defined()) {
      norm(block.cross_norm);
      layer(block.cross.query);
      block.cross.joined = joined({&block.cross.key, &block.cross.value});
      layer(block.cross.joined);
      layer(block.cross.out);
    }
    norm(block.mlp_norm);
    layer(block.mlp_in);
    layer(block.mlp_out);
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
