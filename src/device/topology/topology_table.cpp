#include <algorithm>
#include <set>

#include "device/topology/topology.h"

namespace tutti {
namespace {

using Row = std::vector<std::string>;

Row row_of(const Topology& topology, std::size_t gpu) {
  Row row{"GPU" + std::to_string(topology.gpus[gpu].index)};
  for (std::size_t other = 0; other < topology.gpus.size(); ++other) {
    const auto& path = topology.paths[gpu][other];
    row.push_back(gpu == other ? "X" : path ? path->name() : "?");
  }
  row.push_back(topology.gpus[gpu].cpus.value_or("?"));
  const auto node = topology.gpus[gpu].numa_node;
  row.push_back(node ? std::to_string(*node) : "?");
  return row;
}

const char* words_of(GpuPath::Kind kind) {
  switch (kind) {
    case GpuPath::Kind::nvlink: return "NV#   that many NVLinks";
    case GpuPath::Kind::single: return "PIX   at most one PCIe bridge";
    case GpuPath::Kind::multiple: return "PXB   several PCIe bridges, not the processor";
    case GpuPath::Kind::hostbridge: return "PHB   over the processor's PCIe host bridge";
    case GpuPath::Kind::node: return "NODE  between host bridges of one NUMA node";
    case GpuPath::Kind::system: break;
  }
  return "SYS   between NUMA nodes: slower, copies go through the processor";
}

}  // namespace

std::string topology_table(const Topology& topology) {
  if (topology.gpus.empty()) return {};
  std::vector<Row> rows{{""}};
  for (const auto& gpu : topology.gpus) rows[0].push_back("GPU" + std::to_string(gpu.index));
  rows[0].insert(rows[0].end(), {"CPU affinity", "NUMA node"});
  std::set<GpuPath::Kind> kinds;
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    rows.push_back(row_of(topology, gpu));
    for (const auto& path : topology.paths[gpu])
      if (path) kinds.insert(path->kind);
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& each : rows) width = std::max(width, each[column].size());
      line += row[column] + std::string(width - row[column].size() + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  for (const auto kind : kinds) text += std::string(words_of(kind)) + "\n";
  return text;
}

}  // namespace tutti
