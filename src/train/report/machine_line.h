#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "device/telemetry/machine_snapshot.h"

namespace tutti {

/// What the machine does, as the progress line and metrics say it; what is not known is absent.
struct MachineLoad {
  std::optional<double> gpu{};  // 0 to 1
  std::optional<Bytes> gpu_used{}, gpu_total{};
  std::optional<Bytes> gpu_own{};  // part of gpu_used, by our own processes
  std::optional<double> cpu{};     // 0 to 1
  std::optional<Bytes> memory_used{}, memory_total{};
};

/// "GPU: 85% | VRAM:12.3/24.0GB(51.2%) | CPU: 45.2% | RAM:18.4/64.0GB(28.8%)", absent parts left out.
std::string machine_text(const MachineLoad& load);

/// The GPU with that number in the snapshot; null where there is none.
const GpuSnapshot* gpu_in(const MachineSnapshot& snapshot, std::optional<int> gpu);

/// What the snapshot has of memory; the shares are absent.
MachineLoad memory_load(const MachineSnapshot& snapshot, std::optional<int> gpu);

/// Means over the last snapshots, so that one moment does not represent all. One thread.
class MachineLine {
 public:
  /// `gpu`: N of cuda:N; none: a training on the CPU.
  explicit MachineLine(std::optional<int> gpu) : gpu_(gpu) {}

  /// Takes a snapshot in, once.
  void take(const std::shared_ptr<const MachineSnapshot>& snapshot);
  MachineLoad load() const;

 private:
  static constexpr std::size_t kSnapshots = 10;

  std::optional<int> gpu_;
  std::deque<std::shared_ptr<const MachineSnapshot>> last_{};
};

}  // namespace tutti
