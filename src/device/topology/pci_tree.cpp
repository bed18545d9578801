#include "device/topology/pci_tree.h"

#include <algorithm>

#include "base/strings/ascii.h"
#include "base/strings/trimmed.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// NVML writes eight digits of the domain, the system four.
std::string system_name(std::string_view bus_id) {
  const auto colon = bus_id.find(':');
  if (colon != std::string_view::npos && colon > 4) bus_id.remove_prefix(colon - 4);
  return ascii_lower(bus_id);
}

}  // namespace

PciLocation::PciLocation(const fs::path& root, std::string_view bus_id)
    : folder_(root / "sys/bus/pci/devices" / system_name(bus_id)) {
  // The link leads to …/pci0000:00/0000:00:01.0/0000:01:00.0: host bridge, bridges, device.
  std::error_code gone;
  const fs::path real = fs::canonical(folder_, gone);
  if (gone) return;
  for (const auto& part : real)
    if (!bridges_.empty() || part.string().starts_with("pci")) bridges_.push_back(part.string());
}

std::optional<std::string> PciLocation::cpus() const {
  const auto list = read_system_file(folder_ / "local_cpulist");
  if (!list || trimmed(*list).empty()) return std::nullopt;
  return std::string(trimmed(*list));
}

std::optional<int> PciLocation::numa_node() const {
  const auto text = read_system_file(folder_ / "numa_node");
  const auto number = text ? leading_number(*text) : std::nullopt;
  if (!number || *number < 0) return std::nullopt;  // -1: the machine has no nodes, or will not say
  return static_cast<int>(*number);
}

std::optional<GpuPath> PciLocation::path_to(const PciLocation& other) const {
  using Kind = GpuPath::Kind;
  if (bridges_.empty() || other.bridges_.empty()) return std::nullopt;
  const auto [mine, theirs] =
      std::mismatch(bridges_.begin(), bridges_.end(), other.bridges_.begin(), other.bridges_.end());
  const auto common = mine - bridges_.begin();
  if (common == 0) {
    if (!numa_node() || !other.numa_node()) return std::nullopt;
    return GpuPath{numa_node() == other.numa_node() ? Kind::node : Kind::system};
  }
  if (common == 1) return GpuPath{Kind::hostbridge};
  // Below one switch each has a downstream port of its own and nothing more.
  const bool one_switch = bridges_.end() - mine <= 2 && other.bridges_.end() - theirs <= 2;
  return GpuPath{one_switch ? Kind::single : Kind::multiple};
}

}  // namespace tutti
