#include "device/topology/topology.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/try.h"
#include "device/nvml/query.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Kind = GpuPath::Kind;

/// NVML writes eight digits of the domain, the system four.
std::string system_name(std::string_view bus_id) {
  const auto colon = bus_id.find(':');
  if (colon != std::string_view::npos && colon > 4) bus_id.remove_prefix(colon - 4);
  return ascii_lower(bus_id);
}

/// A PCI device as the system describes it, below `root`. `bus_id` as NVML writes it: "00000000:01:00.0".
class PciLocation {
 public:
  PciLocation(const fs::path& root, std::string_view bus_id);

  std::optional<std::string> cpus() const;
  std::optional<int> numa_node() const;
  /// Absent where the system does not say where one of them is.
  std::optional<GpuPath> path_to(const PciLocation& other) const;

 private:
  fs::path folder_;
  std::vector<std::string> bridges_;  // from the host bridge down to the device; empty: unknown
};

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

constexpr unsigned kMaskWords = 64;  // 4096 cores

/// Where each active NVLink of a GPU leads: the bus id of another GPU, or empty for a switch.
std::vector<std::string> nvlinks(const NvmlLibrary& library, nvml::Device device) {
  NvmlQuery query(library, device);
  std::vector<std::string> ends;
  for (unsigned link = 0; link < nvml::kLinks; ++link) {
    if (query.value(library.link_state, link).value_or(0) != 1) continue;
    const auto kind = query.value(library.link_remote_kind, link);
    auto remote = query.value(library.link_remote_pci, link);
    if (kind == nvml::kRemoteIsSwitch) {
      ends.emplace_back();
    } else if (remote) {
      remote->bus_id[sizeof remote->bus_id - 1] = '\0';
      ends.emplace_back(remote->bus_id);
    }
  }
  return ends;
}

int links_between(const std::vector<std::string>& mine, const std::vector<std::string>& theirs,
                  const std::optional<std::string>& their_bus) {
  const auto direct = their_bus ? std::count(mine.begin(), mine.end(), *their_bus) : 0;
  const auto over_switches =
      std::min(std::count(mine.begin(), mine.end(), ""), std::count(theirs.begin(), theirs.end(), ""));
  return static_cast<int>(std::max(direct, over_switches));
}

std::optional<GpuPath> nvml_path(NvmlQuery& query, nvml::Device other) {
  const auto level = query.value(query.library().common_ancestor, other);
  if (!level) return std::nullopt;
  switch (*level) {  // nvmlGpuTopologyLevel_t
    case 0:
    case 10: return GpuPath{Kind::single};
    case 20: return GpuPath{Kind::multiple};
    case 30: return GpuPath{Kind::hostbridge};
    case 40: return GpuPath{Kind::node};
    case 50: return GpuPath{Kind::system};
    default: return std::nullopt;
  }
}

TopologyGpu location_of(const NvmlLibrary& library, const NvmlCard& card, const PciLocation& location) {
  TopologyGpu gpu{.index = card.gpu.index, .uuid = card.gpu.uuid, .name = card.gpu.name};
  gpu.pci_bus_id = card.gpu.pci_bus_id;
  NvmlQuery query(library, card.device);
  std::vector<unsigned long> mask(kMaskWords);
  gpu.cpus = query.call(library.cpu_affinity, kMaskWords, mask.data()) ? cpu_list(mask) : location.cpus().value_or("");
  if (gpu.cpus->empty()) gpu.cpus.reset();
  unsigned long nodes = 0;
  if (query.call(library.memory_affinity, 1U, &nodes, nvml::kScopeNode) && nodes != 0)
    gpu.numa_node = __builtin_ctzl(nodes);
  else
    gpu.numa_node = location.numa_node();
  return gpu;
}

std::vector<NumaNode> numa_nodes(const fs::path& root) {
  std::vector<NumaNode> nodes;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/node", gone)) {
    const std::string name = entry.path().filename();
    const auto number = name.starts_with("node") ? leading_number(std::string_view(name).substr(4)) : std::nullopt;
    if (!number) continue;
    NumaNode node{.number = static_cast<int>(*number)};
    node.cpus = trimmed(read_system_file(entry.path() / "cpulist").value_or(""));
    const std::string memory = read_system_file(entry.path() / "meminfo").value_or("");
    if (const auto at = memory.find("MemTotal:"); at != std::string::npos)
      if (const auto size = leading_number(std::string_view(memory).substr(at + 9))) node.memory = Bytes{*size * 1024};
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return nodes;
}

}  // namespace

std::string GpuPath::name() const {
  switch (kind) {
    case Kind::nvlink: return "NV" + std::to_string(nvlinks);
    case Kind::single: return "PIX";
    case Kind::multiple: return "PXB";
    case Kind::hostbridge: return "PHB";
    case Kind::node: return "NODE";
    case Kind::system: break;
  }
  return "SYS";
}

std::string cpu_list(const std::vector<unsigned long>& mask) {
  const auto is_set = [&](std::size_t bit) { return bit < 64 * mask.size() && (mask[bit / 64] >> bit % 64 & 1); };
  std::string text;
  for (std::size_t bit = 0; bit < 64 * mask.size(); ++bit) {
    if (!is_set(bit)) continue;
    const auto first = bit;
    while (is_set(bit + 1)) ++bit;
    text += (text.empty() ? "" : ",") + std::to_string(first) + (bit > first ? "-" + std::to_string(bit) : "");
  }
  return text;
}

Topology read_topology(const NvmlLibrary& library, const NvmlListing& listing, const fs::path& root) {
  Topology topology{.nodes = numa_nodes(root)};
  std::vector<PciLocation> locations;
  std::vector<std::vector<std::string>> links;
  for (const auto& card : listing.cards) {
    locations.emplace_back(root, card.gpu.pci_bus_id.value_or("none"));
    links.push_back(nvlinks(library, card.device));
    topology.gpus.push_back(location_of(library, card, locations.back()));
  }
  const std::size_t count = listing.cards.size();
  topology.paths.resize(count, std::vector<std::optional<GpuPath>>(count));
  for (std::size_t a = 0; a < count; ++a) {
    NvmlQuery query(library, listing.cards[a].device);
    for (std::size_t b = 0; b < count; ++b) {
      if (a == b) continue;
      auto& path = topology.paths[a][b];
      if (const int together = links_between(links[a], links[b], listing.cards[b].gpu.pci_bus_id))
        path = GpuPath{Kind::nvlink, together};
      else if (!(path = nvml_path(query, listing.cards[b].device)))
        path = locations[a].path_to(locations[b]);
    }
  }
  return topology;
}

Result<Topology> find_topology() {
  const auto library = TRY(NvmlLibrary::load());
  return list_cards(*library).map([&](const NvmlListing& listing) { return read_topology(*library, listing); });
}

}  // namespace tutti
