#include "train/optimiser.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti {

std::int64_t TrainingLength::expected(std::int64_t steps, std::int64_t used) const {
  if (least == 0) return most;
  auto whole = least;
  if (used > 0) whole = std::max(whole, (steps * recordings + used - 1) / used);
  return most > 0 ? std::min(most, whole) : whole;
}

double RateSchedule::at(std::int64_t step) const {
  if (step <= warmup) return peak * static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, warmup));
  if (shape == Shape::constant || steps <= warmup) return peak;
  const double over = static_cast<double>(step - warmup - 1) / static_cast<double>(steps - warmup);
  const double progress = std::min(1.0, over);
  double share = 1 - progress;
  if (shape == Shape::cosine) {
    const double within = progress >= 1 ? 1 : std::fmod(progress * cycles, 1.0);
    share = 0.5 * (1 + std::cos(std::numbers::pi * within));
  }
  return peak * (final_share + (1 - final_share) * share);
}

AdamW::AdamW(std::span<const Parameter> parameters, AdamWOptions options) : options_(options) {
  for (const auto& parameter : parameters) {
    if (!parameter.value.requires_grad()) continue;
    slots_.push_back({.parameter = parameter,
                      .mean = at::zeros_like(parameter.value).detach(),
                      .square = at::zeros_like(parameter.value).detach(),
                      .steps = at::zeros({}, parameter.value.options().requires_grad(false))});
  }
}

void AdamW::step_slots(double rate, bool decayed) {
  std::vector<at::Tensor> values, gradients, means, squares, steps;
  for (auto& slot : slots_) {
    const auto& value = slot.parameter.value;
    if (!value.grad().defined() || (value.dim() > 1) != decayed) continue;
    values.push_back(value);
    gradients.push_back(value.grad());
    means.push_back(slot.mean);
    squares.push_back(slot.square);
    steps.push_back(slot.steps);
  }
  if (values.empty()) return;
  at::_foreach_add_(steps, 1);
  at::_fused_adamw_(values, gradients, means, squares, {}, steps, rate, options_.beta1, options_.beta2,
                    decayed ? options_.weight_decay : 0, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void AdamW::step(double rate) {
  const c10::AutoGradMode no_gradients(false);
  step_slots(rate, true);
  step_slots(rate, false);
}

void AdamW::clear_gradients() {
  for (auto& slot : slots_) slot.parameter.value.mutable_grad().reset();
}

std::vector<at::Tensor> AdamW::gradients() const {
  std::vector<at::Tensor> found;
  for (const auto& slot : slots_)
    if (slot.parameter.value.grad().defined()) found.push_back(slot.parameter.value.grad());
  return found;
}

std::vector<at::Tensor> AdamW::whole_gradients() {
  for (auto& slot : slots_)
    if (auto& gradient = slot.parameter.value.mutable_grad(); !gradient.defined())
      gradient = at::zeros_like(slot.parameter.value).detach();
  return gradients();
}

std::vector<Parameter> AdamW::state() const {
  std::vector<Parameter> state;
  for (const auto& slot : slots_) {
    state.push_back({slot.parameter.name + ".mean", slot.mean});
    state.push_back({slot.parameter.name + ".square", slot.square});
    state.push_back({slot.parameter.name + ".steps", slot.steps});
  }
  return state;
}

at::Tensor clip_gradients(std::span<const at::Tensor> gradients, double norm) {
  const c10::AutoGradMode no_gradients(false);
  const at::TensorList list(gradients.data(), gradients.size());
  if (gradients.empty()) return at::zeros({});
  const auto found = at::stack(at::_foreach_norm(list)).norm();
  if (norm > 0) at::_foreach_mul_(list, (norm / (found + 1e-6)).clamp_max(1.0));
  return found;
}

}  // namespace tutti
