#include "train/optimiser_step/averages_in_place.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <stdexcept>

#include "model/gpu/out_of_memory.h"

namespace tutti {
namespace {

std::int64_t largest(const std::vector<Parameter>& tensors) {
  std::int64_t most = 0;
  for (const auto& tensor : tensors) most = std::max(most, tensor.value.numel());
  return most;
}

}  // namespace

AveragesInPlace::AveragesInPlace(const Task& task, const TrainStep& step)
    : trained_(task.trained()), averages_(step.averages()), kept_(at::empty({largest(averages_)}, at::kFloat)) {
  try {
    exchange();
  } catch (const std::exception& problem) {
    // Some are in place and some are not: no lack of memory, behind which the weights would be saved.
    throw std::runtime_error("the averages could not replace the weights: " + text_of(problem));
  }
}

/// By way of memory that is there: device and host may be full by the time they are put back, and that must not fail.
void AveragesInPlace::exchange() {
  const c10::AutoGradMode no_gradients(false);
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const at::Tensor& weight = trained_[i].value;
    const at::Tensor& average = averages_[i].value;
    const auto kept = kept_.narrow(0, 0, weight.numel()).view(weight.sizes());
    kept.copy_(weight);
    weight.copy_(average);
    average.copy_(kept);
  }
}

}  // namespace tutti
