#include "profile/gpu_watch.h"

#include <algorithm>
#include <chrono>

namespace tutti {
namespace {

bool is_ours(const GpuSnapshot& gpu) {
  return gpu.processes && std::ranges::any_of(*gpu.processes, &GpuProcess::own);
}

bool is_held_back(const GpuSnapshot& gpu) {
  return is_ours(gpu) && std::ranges::any_of(*gpu.throttled_by, &ThrottleReason::is_heat_or_power);
}

}  // namespace

void GpuTrack::take(const std::shared_ptr<const MachineSnapshot>& snapshot) {
  const double seconds = time_since(last_.get(), *snapshot).count();
  last_ = snapshot;
  if (seconds <= 0) return;
  for (const GpuSnapshot& gpu : snapshot->gpus) {
    if (!gpu.cuda_order) continue;
    GpuUse& use = uses_[*gpu.cuda_order];
    if (gpu.utilisation.gpu) use.load.add(*gpu.utilisation.gpu, seconds);
    if (gpu.memory.used) use.memory = std::max(use.memory.value_or(Bytes{}), *gpu.memory.used);
    if (gpu.throttled_by) use.held_back.add(is_held_back(gpu) ? 1 : 0, seconds);
  }
}

GpuWatch::GpuWatch(Seconds every) : sampler_({.period = every, .pcie_period = Seconds(0)}) {
  const auto period = std::chrono::duration_cast<std::chrono::milliseconds>(every);
  thread_ = std::make_unique<PeriodicThread>(
      period, [this] { seen_.with([&](GpuTrack& seen) { seen.take(sampler_.latest()); }); });
}

/// The last reading is the sampler's, which may be as old as its period.
std::map<int, GpuUse> GpuWatch::stop() {
  thread_.reset();
  return seen_.with([](const GpuTrack& seen) { return seen.uses(); });
}

}  // namespace tutti
