#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/gpu.h"

namespace tutti {

/// The devices of this machine, as found once. Plain data.
struct MachineDevices {
  std::string cpu;                    ///< model name, for people
  std::vector<Gpu> gpus;              ///< all, in PCI order
  std::vector<Gpu> visible;           ///< those CUDA_VISIBLE_DEVICES lets us see, in its order
  std::optional<std::string> driver;  ///< NVIDIA driver version
  std::optional<std::string> cuda;    ///< newest CUDA version the driver can run
  std::vector<std::string> notes;     ///< why GPUs are missing, silent or hidden; a line each

  /// The devices one can name, for error messages: "cpu, cuda:0 (NVIDIA L4, GPU-…)".
  std::string choices() const;
};

/// Queries the processor, NVML and the environment. Never fails: what is not there becomes a note.
MachineDevices find_devices();

}  // namespace tutti
