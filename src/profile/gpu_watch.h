#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "base/units.h"
#include "device/telemetry/sampler.h"
#include "metrics/time_weighted.h"

namespace tutti {

/// What a GPU did while it was watched.
struct GpuUse {
  TimeWeighted load{};  ///< its utilisation, 0 to 1; empty where the driver does not report it
  /// 1 while heat or power lowered its clocks and a process of ours was on it, else 0; empty where the driver does not
  /// report why clocks are low. Where it shows no processes, none is ours.
  TimeWeighted held_back{};
  std::optional<Bytes> memory{};  ///< the most that was in use, by all processes; none where it is not reported
};

/// Adds up what snapshots say of GPUs, each weighted by the time for which it holds. One thread.
class GpuTrack {
 public:
  /// Takes a snapshot in, once.
  void take(const std::shared_ptr<const MachineSnapshot>& snapshot);
  /// By N of cuda:N; empty where there is no GPU.
  const std::map<int, GpuUse>& uses() const { return uses_; }

 private:
  std::shared_ptr<const MachineSnapshot> last_{};
  std::map<int, GpuUse> uses_{};
};

/// Watches the GPUs of this machine from its construction until `stop`, by the driver's reports, several times a
/// second. It touches none of them.
class GpuWatch {
 public:
  explicit GpuWatch(Seconds every);

  /// By N of cuda:N; empty where there is no GPU.
  std::map<int, GpuUse> stop();

 private:
  Sampler sampler_;
  Guarded<GpuTrack> seen_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

}  // namespace tutti
