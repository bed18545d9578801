
#include "base/json.h"
#include "view/top/top_data.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

void put(Json& into, const char* name, const std::optional<double>& value) {
  if (value) into[name] = *value;
}
void put(Json& into, const char* name, const std::optional<Bytes>& value) {
  if (value) into[name] = value->value;
}

Json disk_json(const DiskStatus& disk) {
  Json out{{"path", disk.path}};
  put(out, "total_bytes", disk.total);
  put(out, "free_bytes", disk.free);
  put(out, "read_bytes_per_second", disk.read);
  put(out, "written_bytes_per_second", disk.written);
  return out;
}

Json host_json(const HostStatus& host) {
  Json out = Json::object();
  put(out, "cpu_busy_ratio", host.busy);
  put(out, "memory_total_bytes", host.memory_total);
  put(out, "memory_available_bytes", host.memory_available);
  put(out, "swap_total_bytes", host.swap_total);
  put(out, "swap_used_bytes", host.swap_used);
  out["disks"] = Json::array();
  for (const DiskStatus& disk : host.disks) out["disks"].push_back(disk_json(disk));
  return out;
}

Json process_json(const ProcessStatus& process) {
  Json out{{"pid", process.pid}, {"name", process.name}, {"own", process.own}};
  put(out, "cpu_cores", process.cores);
  put(out, "resident_bytes", process.resident);
  if (!process.device.empty()) out["device"] = process.device;
  put(out, "device_memory_bytes", process.device_memory);
  return out;
}

/// A status of devices alone, for their part of the document.
Json devices_json(const std::vector<DeviceStatus>& devices) {
  FleetStatus only;
  only.devices = devices;
  return Json::parse(fleet_status_json(only))["devices"];
}

}  // namespace

std::string top_json(const TopData& data) {
  Json out{{"version", kVersion}, {"title", data.title}, {"host", host_json(data.host)}};
  if (data.run) out["run"] = Json::parse(fleet_status_json(*data.run));
  out["devices"] = devices_json(data.devices);
  out["processes"] = Json::array();
  for (const ProcessStatus& process : data.processes) out["processes"].push_back(process_json(process));
  out["notes"] = data.notes;
  return json_line(out);
}

}  // namespace tutti
