#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/telemetry/gpu_snapshot.h"
#include "device/telemetry/host_snapshot.h"

namespace tutti {

/// Everything telemetry knows of this machine at one moment. Immutable once published; plain data.
struct MachineSnapshot {
  std::uint64_t number = 0;                            ///< counts up from 1; 0: nothing was sampled yet
  Clock::Instant when{};                               ///< when it was put together
  std::chrono::system_clock::time_point wall_clock{};  ///< the same moment, for people
  std::string source{};                 ///< where GPU data comes from: "nvml", "nvidia-smi", or empty: there is none
  std::optional<std::string> driver{};  ///< NVIDIA driver version
  bool driver_hangs = false;            ///< a call about the driver as a whole does not come back
  std::vector<GpuSnapshot> gpus{};      ///< in PCI order; a lost GPU stays, at the end
  HostSnapshot host{};
  std::vector<std::string> notes{};  ///< what is missing and why, a line each

  Seconds age(Clock::Instant now) const { return now - when; }
  /// The GPU of this UUID, or the one that the slice of this UUID (MIG-…) is part of; else null.
  const GpuSnapshot* gpu(std::string_view uuid) const;
};

/// How long a value of `now` holds, behind the snapshot `before`: 0 where that is null, or the same one, or one in
/// which nothing was sampled yet; two seconds at most, for what was before is unknown. Pure.
Seconds time_since(const MachineSnapshot* before, const MachineSnapshot& now);

}  // namespace tutti
