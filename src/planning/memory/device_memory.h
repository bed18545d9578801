#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "device/gpu.h"
#include "hub/memory_plan.h"

namespace tutti {

/// What is known of a device's memory before anything runs on it.
struct DeviceMemory {
  std::string name{};  // for people
  bool gpu = false;
  Bytes available{};        // free now; of a GPU less what the driver will take, of an emulated GPU all it plays
  bool byte_cross = false;  // int8 keeps windows in eight bits there
  std::optional<ComputeCapability> capability{};  // compute capability of a GPU; none: not known
};

/// `device` as --device names it. Queries the driver or the system; nothing where the device is not there or does not
/// report it.
std::optional<DeviceMemory> device_memory(const std::string& device);

/// A GPU that need not be here, by its model: "T4". Nothing for one whose figures are not known.
std::optional<DeviceMemory> card_of_model(std::string_view model);

/// Whether the device computes in that type itself, instead of in the nearest that it has (worker/compute_type.cpp).
/// True where its generation is not known.
bool computes_in(const std::string& compute_type, const DeviceMemory& device);

/// The sizes of a compute type as that device takes it: of `default`, `auto`, and of those it does not have as well.
NumberSizes sizes_there(const std::string& compute_type, const DeviceMemory& device);

}  // namespace tutti
