#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
};

/// The oldest generation that Tutti's kernels are built for: Turing.
inline constexpr ComputeCapability kOldestCapability{7, 5};

/// One slice of a GPU in MIG mode: a device of its own to CUDA.
struct MigDevice {
  std::string uuid;    ///< "MIG-…"
  std::string name{};  ///< "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
  std::optional<int> gpu_instance{}, compute_instance{};
  std::optional<Bytes> memory_total{}, memory_used{};
};

/// One NVIDIA GPU as the driver describes it. What the driver does not say is absent, never 0.
struct Gpu {
  int index = 0;                            ///< in PCI order, as nvidia-smi counts
  std::optional<std::string> uuid{};        ///< "GPU-…": the one name that lasts
  std::optional<std::string> name{};        ///< "NVIDIA L4"
  std::optional<std::string> pci_bus_id{};  ///< "00000000:01:00.0"
  std::optional<Bytes> memory_total{};
  std::optional<Bytes> memory_used{};  ///< by all processes and the driver, at the moment of the query
  std::optional<ComputeCapability> capability{};
  std::optional<bool> mig{};  ///< in MIG mode: CUDA then sees its slices only
  std::vector<MigDevice> mig_devices{};

  /// For people: "0: NVIDIA L4, GPU-…", with what is known.
  std::string text() const {
    return std::to_string(index) + ": " + name.value_or("GPU of unknown name") + (uuid ? ", " + *uuid : "");
  }
};

}  // namespace tutti
