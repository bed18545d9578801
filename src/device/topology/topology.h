#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "device/nvml/readings.h"

namespace tutti {

/// The link between two GPUs, nearest first, under the names that `nvidia-smi topo -m` gives.
struct GpuPath {
  enum class Kind {
    nvlink,      ///< NV#: a bonded set of # NVLinks, direct or over switches
    single,      ///< PIX: at most a single PCIe bridge
    multiple,    ///< PXB: several PCIe bridges, not the host bridge
    hostbridge,  ///< PHB: a PCIe host bridge, typically the CPU
    node,        ///< NODE: between host bridges of one NUMA node
    system,      ///< SYS: between NUMA nodes
  };
  Kind kind = Kind::system;
  int nvlinks = 0;

  /// "NV4", "PIX", …
  std::string name() const;
};

struct TopologyGpu {
  int index = 0;  ///< in PCI order
  std::optional<std::string> uuid{}, name{}, pci_bus_id{};
  std::optional<std::string> cpus{};  ///< the cores near it: "0-15,32-47"
  std::optional<int> numa_node{};
};

struct NumaNode {
  int number = 0;
  std::string cpus{};
  std::optional<Bytes> memory{};
};

/// Which devices are near which. A link that neither the driver nor the system reports is absent.
struct Topology {
  std::vector<TopologyGpu> gpus{};
  std::vector<std::vector<std::optional<GpuPath>>> paths{};  ///< [gpu][gpu]; absent on the diagonal
  std::vector<NumaNode> nodes{};
};

/// Queries NVML, and below `root` ("/" but in tests) the system's own description of its PCI bus where NVML lacks an
/// answer.
Topology read_topology(const NvmlLibrary& library, const NvmlListing& listing, const std::filesystem::path& root = "/");

/// The machine's own. Fault::missing or Fault::device without a driver that answers.
Result<Topology> find_topology();

/// The table that `nvidia-smi topo -m` prints, with a line of words for each kind of path in it.
std::string topology_table(const Topology& topology);

/// "0-3,8" for a mask of 64 cores a word.
std::string cpu_list(const std::vector<unsigned long>& mask);

}  // namespace tutti
