#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "device/topology/topology.h"

namespace tutti {

/// A PCI device as the system describes it, below `root`. `bus_id` as NVML writes it: "00000000:01:00.0".
class PciLocation {
 public:
  PciLocation(const std::filesystem::path& root, std::string_view bus_id);

  std::optional<std::string> cpus() const;
  std::optional<int> numa_node() const;
  /// Absent where the system does not say where one of them is.
  std::optional<GpuPath> path_to(const PciLocation& other) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> bridges_;  // from the host bridge down to the device; empty: unknown
};

}  // namespace tutti
