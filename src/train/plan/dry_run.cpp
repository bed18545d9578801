#include "train/plan/dry_run.h"

#include <ATen/ATen.h>

#include "base/log.h"
#include "train/optimiser_step/step_memory.h"

namespace tutti {
namespace {

/// The most that is held at once on the way, beside what is there before and the inputs.
std::int64_t most_held(const DryStep& step, std::int64_t rows) {
  const auto inputs = step.inputs(rows);
  free_step_memory();
  const auto before = held_step_memory().used;
  step.loss_sum(inputs).backward();
  return static_cast<std::int64_t>(held_step_memory().most - before);
}

}  // namespace

DryRun dry_run(std::span<const Parameter> trained, const DryStep& step, std::int64_t samples, Bytes sample) {
  keep_step_memory();
  for (const auto& parameter : trained)
    if (parameter.value.requires_grad()) parameter.value.mutable_grad() = at::zeros_like(parameter.value).detach();
  constexpr std::int64_t kFewer = 3, kMore = kFewer + 1;
  log(Level::info, "dry run on the processor: a step of " + std::to_string(kFewer * samples) + " and one of " +
                       std::to_string(kMore * samples) + " samples; of a large network they take a minute or two");
  const auto fewer = most_held(step, kFewer * samples), more = most_held(step, kMore * samples);
  for (const auto& parameter : trained) parameter.value.mutable_grad().reset();
  free_step_memory();
  return {.samples = samples, .held = Bytes{more - fewer}, .computed = Bytes{samples * sample.value}};
}

}  // namespace tutti
