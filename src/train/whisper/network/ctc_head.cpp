#include "train/whisper/network/ctc_head.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "train/whisper/labels.h"

namespace tutti {
namespace {

/// How far the blank's score begins above the others'. Nearly every position is a blank; what a head without this
/// learns in its first hundred steps is nothing else.
constexpr double kBlankAtFirst = 5;
constexpr double kBlankCounts = 0.3;  // in the timed loss, beside 1 for a token

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
  const auto scores = scores_of(states).log_softmax(2).transpose(0, 1);
  return at::ctc_loss(scores, spelled, lengths.select(1, 0), lengths.select(1, 1), blank(), at::Reduction::Sum,
                      /*zero_infinity=*/true);
}

at::Tensor CtcHead::timed_loss_sum(const at::Tensor& states, const at::Tensor& at_positions) const {
  auto counts = at::ones({blank() + 1}, states.options().dtype(at::kFloat).requires_grad(false));
  counts[blank()].fill_(kBlankCounts);
  return at::cross_entropy_loss(scores_of(states).flatten(0, 1), at_positions.flatten(), counts, at::Reduction::Sum,
                                kIgnoredTarget);
}

at::Tensor CtcHead::scores_of(const at::Tensor& states) const {
  return at::linear(states, parameters_[0].value, parameters_[1].value).to(at::kFloat);
}

}  // namespace tutti
