#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/gpu.h"
#include "device/nvml/library.h"
#include "device/nvml/query.h"
#include "device/telemetry/gpu_snapshot.h"

namespace tutti {

/// A GPU of the driver's list; the handle is good as long as the library it came from.
struct NvmlCard {
  nvml::Device device = nullptr;
  Gpu gpu{};
};

struct NvmlListing {
  std::vector<NvmlCard> cards;        ///< in PCI order
  std::vector<std::string> problems;  ///< GPUs that are there but do not answer
};

/// Queries which GPUs there are; some milliseconds per GPU.
Result<NvmlListing> list_cards(const NvmlLibrary& library);

/// The slices of a GPU in MIG mode; none where it is not.
std::vector<MigDevice> mig_devices(const NvmlLibrary& library, nvml::Device device);

/// The processes on a GPU (computing and drawing), each once, without names and without saying whose they are. Takes
/// the newest of the three interfaces that the driver has. Absent where it shows none of them to us.
std::optional<std::vector<GpuProcess>> gpu_processes(NvmlQuery& query);

/// Adds how busy each process kept the GPU since the call before, whose `last_seen` (microseconds, 0 at first) is moved
/// on: without it NVML repeats old samples. False where the driver cannot say.
bool add_process_utilisation(NvmlQuery& query, unsigned long long& last_seen, std::vector<GpuProcess>& processes);

/// What changes from second to second: memory, utilisation, power, energy, temperature, clocks, throttling, processes.
/// `last_seen` as in add_process_utilisation.
void read_moving_values(NvmlQuery& query, unsigned long long& last_seen, GpuSnapshot& gpu);

/// Values that hardly change, and need not be read every second: limits, PCIe link, ECC counts, recovery action, MIG
/// slices.
void read_steady_values(NvmlQuery& query, GpuSnapshot& gpu);

/// Takes the values of read_steady_values from an older snapshot.
void keep_steady_values(const GpuSnapshot& older, GpuSnapshot& gpu);

}  // namespace tutti
