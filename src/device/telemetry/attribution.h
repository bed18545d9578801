#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/telemetry/machine_snapshot.h"

namespace tutti {

/// Names the processes on a GPU, marks which are ours, and splits its memory and utilisation into own and foreign.
/// Where the driver hides processes (those of other containers), or numbers them in a way that is not ours, the split
/// is absent, not zero. `host` has all processes on the GPU that exist here.
void attribute_load(GpuSnapshot& gpu, const HostSnapshot& host);

/// Finds which GPU is `cuda:N`, by CUDA_VISIBLE_DEVICES (absent: unset). `gpus` are in PCI order. A note where an entry
/// names nothing.
std::optional<std::string> number_as_cuda(std::vector<GpuSnapshot>& gpus,
                                          const std::optional<std::string>& visible_devices);

}  // namespace tutti
