#include "train/classifier/loss.h"

#include <ATen/ATen.h>

namespace tutti {

at::Tensor loss_sum_of(const ClassifierLoss& loss, const ClassifierLogits& logits, const at::Tensor& labels) {
  constexpr std::int64_t kNoneIgnored = -100;
  auto losses = at::cross_entropy_loss(logits.labels.to(at::kFloat), labels, {}, at::Reduction::None, kNoneIgnored,
                                       loss.label_smoothing);
  if (loss.is_focal) losses = loss.focal_alpha * (1 - at::exp(-losses)).pow(loss.focal_gamma) * losses;
  auto sum = (losses * loss.label_weights.index_select(0, labels)).sum();
  if (loss.against < 0) return sum;
  const auto truth = labels.eq(loss.against).to(at::kFloat);
  return sum + loss.against_weight * at::binary_cross_entropy_with_logits(logits.against.to(at::kFloat), truth, {}, {},
                                                                          at::Reduction::Sum);
}

}  // namespace tutti
