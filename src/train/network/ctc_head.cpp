#include "train/network/ctc_head.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace tutti {
namespace {

/// Of the blank's score above the others'. Nearly every position is a blank; what a head without this learns in its
/// first hundred steps is nothing else.
constexpr double kBlankAtFirst = 5;

}  // namespace

CtcHead::CtcHead(std::int64_t width, std::int64_t text_tokens, std::uint64_t seed, at::Device device) {
  auto generator = at::detail::createCPUGenerator(seed);
  const auto drawn = at::randn({text_tokens + 1, width}, generator, at::TensorOptions(at::kFloat)).mul_(0.02);
  parameters_ = {{"ctc.weight", drawn.to(device)},
                 {"ctc.bias", at::zeros({text_tokens + 1}, at::TensorOptions(at::kFloat).device(device))}};
  parameters_[1].value[text_tokens].fill_(kBlankAtFirst);
  for (auto& parameter : parameters_) parameter.value.set_requires_grad(true);
}

at::Tensor CtcHead::loss_sum(const at::Tensor& states, const at::Tensor& spelled, const at::Tensor& lengths) const {
  const at::Tensor& weight = parameters_[0].value;
  const at::Tensor& bias = parameters_[1].value;
  const auto scores = at::linear(states, weight, bias).to(at::kFloat).log_softmax(2).transpose(0, 1);
  const auto blank = weight.size(0) - 1;
  return at::ctc_loss(scores, spelled, lengths.select(1, 0), lengths.select(1, 1), blank, at::Reduction::Sum,
                      /*zero_infinity=*/true);
}

}  // namespace tutti
