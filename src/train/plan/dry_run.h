#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "train/parameter.h"

namespace tutti {

/// A step that was taken on the processor to see what it holds of its samples.
struct DryRun {
  std::int64_t samples = 0;
  Bytes held{};      ///< at most, for these samples
  Bytes computed{};  ///< for the same, by the plan's arithmetic
};

/// The inputs of a loss, so many rows; and their loss, to be differentiated.
struct DryStep {
  std::function<std::vector<at::Tensor>(std::int64_t rows)> inputs{};
  std::function<at::Tensor(const std::vector<at::Tensor>&)> loss_sum{};
};

/// Loss and gradients of three times as many rows as `samples`, and of four times as many: the difference is what the
/// rows alone hold. Of fewer rows a weight's second gradient may be the most. The gradients of `trained` are there
/// before, since the plan counts them with the network. `sample`: what is computed for one.
///
/// Calls keep_step_memory: for a process that does nothing else. Throws what torch throws.
DryRun dry_run(std::span<const Parameter> trained, const DryStep& step, std::int64_t samples, Bytes sample);

}  // namespace tutti
