#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "device/list/emulated_card.h"
#include "device/machine_devices.h"

namespace tutti {

/// The device that a user requested with --device.
struct DeviceSpec {
  enum class Kind {
    automatic,   ///< "auto": the visible GPU with the most free memory, else the CPU
    cpu,         ///< "cpu", or "cpu:N": core N alone, with one thread
    cuda_index,  ///< "cuda:N", or "cuda" for cuda:0: the N-th visible GPU in PCI order, after CUDA_VISIBLE_DEVICES
    uuid,        ///< "GPU-…" or "MIG-…", or an unambiguous beginning of a UUID
    emulated,    ///< "emulated:30x:12GB[@GPU-…]": a GPU that is only played
  };
  Kind kind = Kind::automatic;
  std::size_t index = 0;      ///< N of cuda_index
  std::optional<int> core{};  ///< core of `cpu`
  std::string uuid{};         ///< UUID of `uuid`, as written
  std::string text{};         ///< text of `emulated`, as written
  EmulatedCard card{};        ///< GPU of `emulated`
};

/// Fault::usage for anything else.
Result<DeviceSpec> parse_device(std::string_view text);

/// A device that is there.
struct ResolvedDevice {
  enum class Kind { cpu, cuda, emulated };
  Kind kind = Kind::cpu;
  std::string uuid{};             ///< UUID of a GPU, whole, or of the one an emulated GPU sits on; empty for the CPU
  std::string name{};             ///< for people
  std::optional<int> core{};      ///< the one core of a CPU device; none: all that we may use
  std::optional<Bytes> memory{};  ///< memory of a GPU, in all; none: a CPU's, or the driver does not say
  EmulatedCard card{};            ///< settings of an emulated GPU
};

/// Whether the driver names it and it is of a generation that our kernels are built for.
bool is_usable(const Gpu& gpu);

/// Finds the device among those of the machine. Fault::missing names what is there instead.
Result<ResolvedDevice> resolve(const DeviceSpec& spec, const MachineDevices& devices);

}  // namespace tutti
