#include "planning/capacity.h"

#include <algorithm>

#include "balance/dispatcher.h"
#include "transcribe/prefetch.h"

namespace tutti {
namespace {

// Bytes that stay resident; HostNeed names their sources.
constexpr std::int64_t kEngine = 116'000'000;
constexpr std::int64_t kCudaHalf = 355'000'000;
constexpr std::int64_t kDecoder = 64'000'000;
constexpr std::int64_t kControl = 32'000'000;

std::int64_t usable(const PlanTarget& target) {
  const auto all = target.memory->value;
  if (target.on_cpu) return static_cast<std::int64_t>(kUsableShare * static_cast<double>(all)) - kEngine;
  const DispatcherOptions admission{};
  const auto share = static_cast<std::int64_t>(admission.headroom * static_cast<double>(all));
  return all - kDriverMemory.value - std::max(admission.least_headroom.value, share);
}

/// Processes that a batch comes to decode with on these devices; the usual four where their speeds are not known, and
/// where there are fewer cores: of another machine only the memory is given.
std::int64_t decoders(const std::vector<PlanTarget>& targets, int cores) {
  constexpr int kLeast = 4;
  double speed = 0;
  for (const auto& target : targets) speed += target.speed.value_or(0);
  return audio_threads(std::max(kLeast, cores), speed).decode;
}

}  // namespace

Capacity capacity(const CapacityQuestion& question, const PlanTarget& target) {
  const NumberSizes sizes = *number_sizes(type_on(question.compute_type, target.on_cpu));
  const MemoryPlan plan = memory_plan(question.shape, target.on_cpu ? sizes : on_gpu(sizes), question.text_positions);
  const std::int32_t best = windows_in_flight(target.on_cpu ? kUsualCpuSlots : kUsualGpuSlots);
  Capacity capacity{.weights = {plan.weights.value + plan.workspace.value},
                    .window = {plan.window.value + question.beams * plan.sequence.value},
                    .fits = best};
  if (target.memory) capacity.fits = windows_that_fit(plan, {usable(target)}, question.beams);
  if (target.windows) capacity.fits = std::min<std::int64_t>(capacity.fits, *target.windows);
  capacity.in_flight = static_cast<std::int32_t>(std::min<std::int64_t>(capacity.fits, best));
  return capacity;
}

HostNeed host_need(const CapacityQuestion& question, const std::vector<PlanTarget>& targets, int cores) {
  HostNeed need{.control = {kControl + decoders(targets, cores) * kDecoder}};
  for (const auto& target : targets) {
    const Capacity one = capacity(question, target);
    need.workers.value += kEngine + (target.on_cpu ? one.weights.value + one.in_flight * one.window.value : kCudaHalf);
  }
  return need;
}

}  // namespace tutti
