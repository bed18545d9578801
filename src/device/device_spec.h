#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "device/machine_devices.h"

namespace tutti {

/// What a user asked for with --device.
struct DeviceSpec {
  enum class Kind {
    automatic,   ///< "auto": the visible GPU with the most free memory, else the CPU
    cpu,         ///< "cpu"
    cuda_index,  ///< "cuda:N", or "cuda" for cuda:0: the N-th visible GPU in PCI order, after CUDA_VISIBLE_DEVICES
    uuid,        ///< "GPU-…" or "MIG-…", or an unambiguous beginning of a UUID
  };
  Kind kind = Kind::automatic;
  std::size_t index = 0;  ///< of cuda_index
  std::string uuid{};     ///< of uuid, as written
};

/// Fault::usage for anything else.
Result<DeviceSpec> parse_device(std::string_view text);

/// A device that is there.
struct ResolvedDevice {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  std::string uuid{};  ///< of a GPU, whole; empty for the CPU
  std::string name{};  ///< for people
};

/// Finds the device among those of the machine. Fault::missing says what is there instead.
Result<ResolvedDevice> resolve(const DeviceSpec& spec, const MachineDevices& devices);

}  // namespace tutti
