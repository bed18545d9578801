
#include "base/json.h"
#include "doctor/report.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
void put(Json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

void put(Json& object, const char* key, const std::optional<Bytes>& value) {
  if (value) object[key] = value->value;
}

Json gpu_json(const GpuSnapshot& gpu) {
  Json json{{"uuid", gpu.uuid}, {"state", name_of(gpu.state)}};
  if (!gpu.reason.empty()) json["reason"] = gpu.reason;
  put(json, "index", gpu.index);
  put(json, "cuda_order", gpu.cuda_order);
  put(json, "pci_bus_id", gpu.pci_bus_id);
  put(json, "name", gpu.name);
  put(json, "memory_total_bytes", gpu.memory.total);
  put(json, "memory_free_bytes", gpu.memory.free);
  put(json, "memory_reserved_bytes", gpu.memory.reserved);
  put(json, "utilization_ratio", gpu.utilisation.gpu);
  put(json, "power_watts", gpu.power);
  put(json, "power_limit_watts", gpu.power_limit);
  put(json, "temperature_celsius", gpu.temperatures.gpu);
  put(json, "slowdown_celsius", gpu.temperatures.slowdown_limit);
  put(json, "ecc_uncorrected", gpu.errors.ecc_uncorrected);
  put(json, "recovery_action", gpu.errors.recovery_action);
  put(json, "mig", gpu.mig);
  for (const auto& slice : gpu.mig_devices) json["mig_uuids"].push_back(slice.uuid);
  if (gpu.throttled_by) json["throttled_by"] = Json::array();
  if (gpu.throttled_by)
    for (const auto& reason : *gpu.throttled_by) json["throttled_by"].push_back(reason.key);
  return json;
}

Json topology_json(const Topology& topology) {
  Json json{{"gpus", Json::array()}, {"paths", Json::array()}, {"numa_nodes", Json::array()}};
  for (std::size_t a = 0; a < topology.gpus.size(); ++a) {
    const auto& gpu = topology.gpus[a];
    Json location{{"index", gpu.index}};
    put(location, "uuid", gpu.uuid);
    put(location, "cpus", gpu.cpus);
    put(location, "numa_node", gpu.numa_node);
    json["gpus"].push_back(std::move(location));
    for (std::size_t b = a + 1; b < topology.gpus.size(); ++b)
      if (const auto& path = topology.paths[a][b])
        json["paths"].push_back({{"gpu", gpu.index}, {"peer", topology.gpus[b].index}, {"path", path->name()}});
  }
  for (const auto& node : topology.nodes) {
    Json one{{"node", node.number}, {"cpus", node.cpus}};
    put(one, "memory_bytes", node.memory);
    json["numa_nodes"].push_back(std::move(one));
  }
  return json;
}

const char* level_of(Finding::Level level) {
  constexpr const char* kLevels[] = {"ok", "note", "broken", "fatal"};
  return kLevels[static_cast<int>(level)];
}

}  // namespace

std::string doctor_json(const Findings& findings, const MachineSnapshot& snapshot, const Topology& topology) {
  Json json{{"version", 1}, {"worst", level_of(findings.worst())}, {"findings", Json::array()}};
  for (const auto& finding : findings.all()) {
    Json one{{"level", level_of(finding.level)}, {"thing", finding.thing}, {"found", finding.found}};
    if (!finding.remedy.empty()) one["remedy"] = finding.remedy;
    json["findings"].push_back(std::move(one));
  }
  json["gpus"] = Json::array();
  for (const auto& gpu : snapshot.gpus) json["gpus"].push_back(gpu_json(gpu));
  json["topology"] = topology_json(topology);
  // Names come from drivers and file systems: whatever is no UTF-8 in them is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti
