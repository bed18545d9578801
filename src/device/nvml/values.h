#pragma once

#include "device/nvml/asker.h"
#include "device/telemetry/gpu_snapshot.h"

namespace tutti {

/// What changes from second to second: memory, utilisation, power, energy, temperature, clocks, throttling, processes.
/// `last_seen` as in add_process_utilisation.
void read_moving_values(NvmlQuery& query, unsigned long long& last_seen, GpuSnapshot& gpu);

/// Values that hardly change, and need not be read every second: limits, PCIe link, ECC counts, recovery action, MIG
/// slices.
void read_steady_values(NvmlQuery& query, GpuSnapshot& gpu);

/// Takes the values of read_steady_values from an older snapshot.
void keep_steady_values(const GpuSnapshot& older, GpuSnapshot& gpu);

}  // namespace tutti
