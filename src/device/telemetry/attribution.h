#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/telemetry/machine_snapshot.h"

namespace tutti {

/// Names the processes on a GPU, says which are ours, and splits its memory and utilisation into own and foreign. What
/// the driver hides (processes of other containers) makes the split absent, not zero.
void attribute_load(GpuSnapshot& gpu, const HostSnapshot& host);

/// Says which GPU is `cuda:N`, by CUDA_VISIBLE_DEVICES (absent: unset). `gpus` are in PCI order. A note where an entry
/// names nothing.
std::optional<std::string> number_as_cuda(std::vector<GpuSnapshot>& gpus,
                                          const std::optional<std::string>& visible_devices);

}  // namespace tutti
