#include "train/optimiser_step/step.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/random/counter_random.h"
#include "model/gpu/out_of_memory.h"
#include "model/gpu/tf32.h"
#include "train/optimiser_step/step_memory.h"

namespace tutti {
namespace {

constexpr std::int64_t kStepsToDouble = 2000;  // finite ones, after which float16's scale is tried at twice its size

/// Products of this scope are rounded. The cache of rounded weights stays off: what a recomputed block puts there
/// without gradients would be found again where gradients are wanted.
class RoundingScope {
 public:
  RoundingScope(at::DeviceType device, StepPrecision precision)
      : device_(device), rounds_(precision == StepPrecision::bfloat16 || precision == StepPrecision::float16) {
    if (!rounds_) return;
    at::autocast::set_autocast_cache_enabled(false);
    at::autocast::set_autocast_dtype(device_, precision == StepPrecision::float16 ? at::kHalf : at::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
  }
  RoundingScope(const RoundingScope&) = delete;
  ~RoundingScope() {
    if (rounds_) at::autocast::set_autocast_enabled(device_, false);
  }

 private:
  at::DeviceType device_;
  bool rounds_;
};

std::int64_t rows_of(const TaskBatch& batch) {
  return batch.ids.size();
}

}  // namespace

TrainStep::TrainStep(Task& task, const AdamWOptions& adamw, StepOptions options, Peers* peers)
    : task_(task), adamw_(task.trained(), adamw), options_(options), peers_(peers) {
  state_.is_scaled = options_.precision == StepPrecision::float16;
  if (!state_.is_scaled) state_.loss_scale = 1;
  if (options_.ema <= 0) return;
  for (const auto& parameter : task.trained())
    averages_.push_back({parameter.name + ".ema", parameter.value.detach().clone()});
}

void TrainStep::resume(const StepState& before) {
  if (before.is_scaled == state_.is_scaled) state_ = before;
}

void TrainStep::note_shape(const std::vector<at::Tensor>& inputs) {
  std::vector<std::int64_t> sizes;
  for (const auto& input : inputs) {
    sizes.push_back(input.dim());
    sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
  }
  shapes_.insert(std::move(sizes));
}

/// Adds the gradients of one batch, as many rows at a time as memory holds. Returns its part of the mean: [] float64 on
/// the task's device, so that no thread waits for it before the step is enqueued whole.
at::Tensor TrainStep::backward(const TaskBatch& batch, std::int64_t targets) {
  at::Tensor sum = at::zeros({}, at::TensorOptions(at::kDouble).device(task_.device()));
  const auto together = std::min(rows_of(batch), row_limit_.value_or(rows_of(batch)));
  for (std::int64_t first = 0; first < rows_of(batch); first += together) {
    std::vector<at::Tensor> inputs;
    for (const auto& input : batch.inputs)
      inputs.push_back(input.narrow(0, first, std::min(together, rows_of(batch) - first)).to(task_.device()));
    note_shape(inputs);
    at::Tensor loss;
    {
      const RoundingScope rounding(task_.device().type(), options_.precision);
      loss = task_.loss_sum(inputs, /*dropout=*/true);
    }
    (loss * (state_.loss_scale / static_cast<double>(targets))).backward();
    sum += loss.detach().to(at::kDouble) / static_cast<double>(targets);
  }
  return sum;
}

at::Tensor TrainStep::accumulate(std::span<const TaskBatch> group, std::int64_t targets, std::int64_t number) {
  at::Tensor loss = at::zeros({}, at::TensorOptions(at::kDouble).device(task_.device()));
  auto generator = at::globalContext().defaultGenerator(task_.device());
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto rank = static_cast<std::uint64_t>(peers_ ? peers_->rank() : 0);
    generator.set_current_seed(mixed({options_.seed, static_cast<std::uint64_t>(number), i, rank, digest("dropout")}));
    loss += backward(group[i], targets);
  }
  return loss;
}

/// Targets, samples, recordings and frames of all processes.
void TrainStep::add_up(StepOutcome& outcome) {
  if (!peers_) return;
  auto& frames = outcome.frames;
  auto counts = at::tensor(
      {outcome.targets, outcome.samples, outcome.recordings, frames.computed, frames.padding, frames.filled_up},
      at::TensorOptions(at::kLong));
  peers_->sum(counts);
  const auto sum = [&counts](std::int64_t i) { return counts[i].item<std::int64_t>(); };
  outcome.targets = sum(0);
  outcome.samples = sum(1);
  outcome.recordings = sum(2);
  frames = {.computed = sum(3), .padding = sum(4), .filled_up = sum(5)};
}

/// Gradients and loss ([] float64) of all processes, as one row of numbers.
void TrainStep::add_up_gradients(at::Tensor& loss) {
  if (!peers_) return;
  const c10::AutoGradMode no_gradients(false);
  std::vector<at::Tensor> parts{loss.to(at::kFloat).reshape({1})};
  const auto gradients = adamw_.whole_gradients();
  for (const auto& gradient : gradients) parts.push_back(gradient.flatten());
  auto row = at::cat(parts);
  peers_->sum(row);
  loss = row[0].to(at::kDouble);
  std::int64_t first = 1;
  for (const auto& gradient : gradients) {
    gradient.copy_(row.narrow(0, first, gradient.numel()).view(gradient.sizes()));
    first += gradient.numel();
  }
}

void TrainStep::unscale(bool finite) {
  if (!state_.is_scaled) return;
  if (!finite) {
    state_.loss_scale = std::max(1.0, state_.loss_scale / 2);
    state_.scaled_steps = 0;
  } else if (++state_.scaled_steps == kStepsToDouble) {
    state_.loss_scale *= 2;
    state_.scaled_steps = 0;
  }
}

void TrainStep::average() {
  const c10::AutoGradMode no_gradients(false);
  const auto& trained = task_.trained();
  std::vector<at::Tensor> averages, values;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    averages.push_back(averages_[i].value);
    values.push_back(trained[i].value);
  }
  if (!averages.empty()) at::_foreach_lerp_(averages, values, 1 - options_.ema);
}

/// All gradients of the step, with fewer rows at a time where memory runs out (which is when it is requested, not when
/// the device gets there). Returns our part of the mean loss, [] float64, not waited for.
at::Tensor TrainStep::accumulate_in_memory(std::span<const TaskBatch> group, std::int64_t targets,
                                           std::int64_t number) {
  std::int64_t widest = 1;
  for (const auto& batch : group) widest = std::max(widest, rows_of(batch));
  for (;;) {
    adamw_.clear_gradients();
    try {
      return accumulate(group, targets, number);
    } catch (const std::exception& problem) {
      if (!is_out_of_memory(problem)) throw;
      // What was added so far is dropped with the gradients, and the step starts again.
      const auto together = std::min(row_limit_.value_or(widest), widest);  // an earlier batch may have had more
      if (together == 1) {
        log(Level::warning, "memory ran out, and not one sample at a time fits");
        throw;
      }
      row_limit_ = (together + 1) / 2;
      log(Level::warning, "memory ran out: " + std::to_string(*row_limit_) +
                              " samples are computed together instead of " + std::to_string(together) +
                              "; the steps stay the same");
      free_step_memory();  // what ran out may not have been a tensor's
    }
  }
}

StepOutcome TrainStep::run(std::span<const TaskBatch> group, std::int64_t number, double rate) {
  const Tf32Scope products(options_.precision == StepPrecision::tf32);  // for this step: evaluations compute in float32
  StepOutcome outcome;
  for (const auto& batch : group) {
    outcome.targets += batch.targets;
    outcome.samples += rows_of(batch);
    outcome.recordings += batch.recordings;
    outcome.frames += batch.frames;
  }
  add_up(outcome);
  if (outcome.targets == 0) return outcome;
  const auto shapes = std::ssize(shapes_);
  auto loss = accumulate_in_memory(group, outcome.targets, number);
  outcome.shapes = std::ssize(shapes_);
  outcome.new_shapes = outcome.shapes - shapes;
  add_up_gradients(loss);
  const auto gradients = adamw_.gradients();
  if (state_.loss_scale != 1) {
    const c10::AutoGradMode no_gradients(false);
    at::_foreach_mul_(gradients, 1 / state_.loss_scale);
  }
  const auto norm = clip_gradients(gradients, options_.clip).to(task_.device(), at::kDouble);
  const auto both = at::stack({loss, norm}).cpu();  // the one wait of a step
  outcome.loss = both[0].item<double>();
  outcome.gradient_norm = both[1].item<double>();
  outcome.finite = std::isfinite(outcome.loss) && std::isfinite(outcome.gradient_norm);
  unscale(outcome.finite);
  if (outcome.finite) {
    adamw_.step(rate);
    average();
  }
  adamw_.clear_gradients();
  return outcome;
}

std::vector<Parameter> TrainStep::tensors() const {
  auto all = adamw_.state();
  all.insert(all.end(), averages_.begin(), averages_.end());
  return all;
}

std::string unsupported_reason(StepPrecision precision, int capability) {
  constexpr int kAmpere = 80;
  if (capability == 0 || capability >= kAmpere) return {};
  switch (precision) {
    case StepPrecision::bfloat16: return "GPUs before Ampere have no units for it and emulate it; they have float16's";
    case StepPrecision::tf32: return "GPUs before Ampere have no TF32, products are float32's; they have float16's";
    case StepPrecision::float32:
    case StepPrecision::float16: break;
  }
  return {};
}

}  // namespace tutti
