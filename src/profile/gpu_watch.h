#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "device/telemetry/sampler.h"
#include "metrics/time_weighted.h"

namespace tutti {

/// What a GPU did while it was watched.
struct GpuUse {
  TimeWeighted load{};              ///< its utilisation, 0 to 1; empty where the driver does not report it
  TimeWeighted throttled{};         ///< 1 while its clocks were lowered, else 0; likewise
  std::set<std::string> reasons{};  ///< of that, in words
};

/// Watches the GPUs of this machine from its construction until `stop`, by the driver's reports, several times a
/// second. It touches none of them.
class GpuWatch {
 public:
  explicit GpuWatch(Seconds every);

  /// By N of cuda:N; empty where there is no GPU.
  std::map<int, GpuUse> stop();

 private:
  void take(const MachineSnapshot& snapshot);

  const double every_;
  Sampler sampler_;
  Guarded<std::map<int, GpuUse>> seen_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

}  // namespace tutti
