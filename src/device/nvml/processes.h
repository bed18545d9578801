#pragma once

#include <optional>
#include <vector>

#include "device/nvml/asker.h"
#include "device/telemetry/gpu_snapshot.h"

namespace tutti {

/// The processes on a GPU (computing and drawing), each once, without names and without saying whose they are. Takes
/// the newest of the three interfaces that the driver has. Absent where it shows none of them to us.
std::optional<std::vector<GpuProcess>> gpu_processes(NvmlQuery& query);

/// Adds how busy each process kept the GPU since the call before, whose `last_seen` (microseconds, 0 at first) is moved
/// on: without it NVML repeats old samples. False where the driver cannot say.
bool add_process_utilisation(NvmlQuery& query, unsigned long long& last_seen, std::vector<GpuProcess>& processes);

}  // namespace tutti
