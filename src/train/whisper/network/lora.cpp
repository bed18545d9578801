#include "train/whisper/network/lora.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace tutti {
namespace {

/// The layers that additions go to, in the order of the network.
std::vector<ops::Linear*> adapted(WhisperWeights& weights, bool decoder_alone) {
  std::vector<ops::Linear*> layers;
  const auto add = [&layers](AttentionWeights& attention) {
    layers.push_back(&attention.query);
    layers.push_back(&attention.value);
  };
  if (!decoder_alone)
    for (auto& block : weights.encoder) add(block.attn);
  for (auto& block : weights.decoder) {
    add(block.attn);
    add(block.cross);
  }
  return layers;
}

const std::string& name_of_weight(const WhisperParameters& base, const at::Tensor& weight) {
  for (const auto& parameter : base.all)
    if (parameter.value.is_same(weight)) return parameter.name;
  throw std::logic_error("a layer's weight is no parameter of its network");
}

}  // namespace

LowRankAdditions::LowRankAdditions(WhisperParameters& base, LowRank low, bool decoder_alone, std::uint64_t seed)
    : decoder_alone_(decoder_alone), scale_(low.alpha / low.rank) {
  for (auto& parameter : base.all) parameter.value.set_requires_grad(false);
  weights_ = base.weights;
  auto generator = at::detail::createCPUGenerator(seed);
  for (const ops::Linear* layer : adapted(weights_, decoder_alone_)) {
    const auto& weight = layer->weight;
    auto name = name_of_weight(base, weight);
    name.resize(name.size() - std::string_view(".weight").size());
    const double deviation = 1 / std::sqrt(3.0 * static_cast<double>(weight.size(1)));
    const auto down = at::randn({low.rank, weight.size(1)}, generator, at::TensorOptions(at::kFloat)).mul_(deviation);
    const auto up = at::zeros({weight.size(0), low.rank}, weight.options());
    trained_.push_back({name + ".lora_down", down.to(weight.device()).requires_grad_()});
    trained_.push_back({name + ".lora_up", up.requires_grad_()});
    bases_.push_back(weight);
  }
}

at::Tensor LowRankAdditions::sum(std::size_t i) const {
  return bases_[i] + at::matmul(trained_[2 * i + 1].value, trained_[2 * i].value) * scale_;
}

WhisperWeights LowRankAdditions::merged() const {
  auto weights = weights_;
  const auto layers = adapted(weights, decoder_alone_);
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i]->weight = sum(i);
  return weights;
}

}  // namespace tutti
