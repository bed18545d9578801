#include "profile/gpu_watch.h"

#include <chrono>

namespace tutti {

GpuWatch::GpuWatch(Seconds every) : every_(every.count()), sampler_({.period = every, .pcie_period = Seconds(0)}) {
  thread_ = std::make_unique<PeriodicThread>(std::chrono::duration_cast<std::chrono::milliseconds>(every),
                                             [this] { take(*sampler_.latest()); });
}

void GpuWatch::take(const MachineSnapshot& snapshot) {
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    if (!gpu.cuda_order) continue;
    seen_.with([&](std::map<int, GpuUse>& seen) {
      GpuUse& use = seen[*gpu.cuda_order];
      if (gpu.utilisation.gpu) use.load.add(*gpu.utilisation.gpu, every_);
      if (!gpu.throttled_by) return;
      use.throttled.add(gpu.throttled_by->empty() ? 0 : 1, every_);
      for (const ThrottleReason& reason : *gpu.throttled_by) use.reasons.emplace(reason.words);
    });
  }
}

/// The last reading is the sampler's, which may be as old as its period.
std::map<int, GpuUse> GpuWatch::stop() {
  thread_.reset();
  return seen_.with([](const std::map<int, GpuUse>& seen) { return seen; });
}

}  // namespace tutti
