#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "hub/memory_plan.h"

namespace tutti {

/// What is known of a device's memory before anything runs on it.
struct DeviceMemory {
  std::string name{};  // for people
  bool gpu = false;
  Bytes available{};        // free now; of a GPU less what the driver will take, of an emulated card all it plays
  bool byte_cross = false;  // int8 keeps windows in eight bits there
};

/// `device` as --device names it. Queries the driver or the system; nothing where the device is not there or does not
/// report it.
std::optional<DeviceMemory> device_memory(const std::string& device);

/// The sizes of a compute type as that device takes it: of `default`, `auto`, and of those it does not have as well.
NumberSizes sizes_there(const std::string& compute_type, const DeviceMemory& device);

}  // namespace tutti
