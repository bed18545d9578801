#include "advise/training_phases.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kMostLoad = 0.20, kMostTransfer = 0.15, kLeastTraining = 0.50, kMostVariation = 0.30;
constexpr double kLeastModelGpu = 0.70, kMostDataGpu = 0.80;

/// Share of the steps' time: a thread that is on a processor for so much of it has no time left to launch more.
constexpr double kBusyHost = 0.7;

}  // namespace

std::vector<NamedRule> rules_that_hold(const RuleFigures& f) {
  std::vector<NamedRule> found;
  const auto add = [&](bool holds, NamedRule rule) {
    if (holds) found.push_back(rule);
  };
  add(f.load > kMostLoad, {"DATA_LOADING", f.load, kMostLoad});
  add(f.transfer > kMostTransfer, {"GPU_TRANSFER", f.transfer, kMostTransfer});
  add(f.training < kLeastTraining, {"UNDERUTILIZED_GPU", f.training, kLeastTraining});
  add(f.variation > kMostVariation, {"OSCILLATION", f.variation, kMostVariation});
  const double model = f.model_gpu.value_or(f.training);
  add(model < kLeastModelGpu, {"LOW_MODEL_GPU_UTIL", model, kLeastModelGpu});
  add(f.data_gpu.value_or(0) > kMostDataGpu, {"DATA_GPU_OVERLOADED", f.data_gpu.value_or(0), kMostDataGpu});
  return found;
}

TwoDevices two_devices(const StepPhases& phases) {
  TwoDevices both;
  for (const Phase* phase : {&phases.load, &phases.preprocess, &phases.transfer, &phases.training}) {
    both.one += phase->times.mean;
    both.two = std::max(both.two, phase->times.mean);
  }
  both.gain = both.two.count() > 0 ? both.one / both.two : 1;
  return both;
}

LowUse cause_of(const TrainingUse& use) {
  const double idle_in_steps = std::max(0.0, 1 - use.waiting - use.busy);
  if (use.waiting > idle_in_steps) return LowUse::feed;
  return use.host >= kBusyHost ? LowUse::launch : LowUse::batch;
}

double gain_of_double_batch(const TrainingUse& use) {
  const double idle_in_steps = std::max(0.0, 1 - use.waiting - use.busy);
  return 1 / (1 - idle_in_steps / 2) - 1;
}

double gain_without_waits(const TrainingUse& use) {
  const double rest = std::max(1 - use.waiting, 0.01);
  return 1 / rest - 1;
}

}  // namespace tutti
