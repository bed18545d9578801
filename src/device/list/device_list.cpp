#include "device/list/device_list.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

std::string written(const DeviceSpec& spec) {
  using Kind = DeviceSpec::Kind;
  switch (spec.kind) {
    case Kind::automatic: return "auto";
    case Kind::cpu: return spec.core ? "cpu:" + std::to_string(*spec.core) : "cpu";
    case Kind::cuda_index: return "cuda:" + std::to_string(spec.index);
    case Kind::uuid: return spec.uuid;
    case Kind::emulated: return spec.text;
  }
  return {};
}

/// The entries that `auto` expands to.
std::vector<ListedDevice> every_device(const MachineDevices& machine) {
  std::vector<ListedDevice> all;
  for (std::size_t i = 0; i < machine.visible.size(); ++i)
    if (is_usable(machine.visible[i])) all.push_back({{.kind = DeviceSpec::Kind::cuda_index, .index = i}});
  if (all.empty()) all.push_back({{.kind = DeviceSpec::Kind::cpu}});
  return all;
}

/// Emulated GPUs and CPUs may be alike; `taken` counts how often each name has been given.
std::string unique(const std::string& name, std::map<std::string, int>& taken) {
  const int times = ++taken[name];
  return times == 1 ? name : name + "#" + std::to_string(times);
}

}  // namespace

std::vector<std::string> device_files(std::string_view list) {
  std::vector<std::string> files;
  for (const std::string_view entry : split(list, ','))
    if (entry.ends_with(".toml")) files.emplace_back(entry);
  return files;
}

Result<std::vector<ListedDevice>> parse_device_list(std::string_view list) {
  std::vector<ListedDevice> devices;
  for (const std::string_view entry : split(list, ',')) {
    if (entry.ends_with(".toml")) {
      auto file = read_device_file(std::string(entry));
      if (!file) return file;
      devices.insert(devices.end(), file->begin(), file->end());
      continue;
    }
    auto spec = TRY(parse_device(entry));
    devices.push_back({.spec = std::move(spec)});
  }
  if (devices.empty()) return fail(Fault::usage, "expected a list of devices, found nothing", "As in cuda:0,cuda:1");
  return devices;
}

Result<std::vector<ChosenDevice>> choose_devices(std::span<const ListedDevice> list, const MachineDevices& machine) {
  std::vector<ListedDevice> entries;
  for (const auto& entry : list) {
    const bool all = entry.spec.kind == DeviceSpec::Kind::automatic;
    const auto more = all ? every_device(machine) : std::vector{entry};
    entries.insert(entries.end(), more.begin(), more.end());
  }
  std::vector<ChosenDevice> chosen;
  std::map<std::string, int> taken;
  for (const auto& entry : entries) {
    auto device = TRY(resolve(entry.spec, machine));
    const bool emulated = device.kind == ResolvedDevice::Kind::emulated;
    const bool gpu = device.kind == ResolvedDevice::Kind::cuda;
    std::string id = gpu ? device.uuid : written(entry.spec);
    if (!emulated && std::ranges::any_of(chosen, [&](const auto& other) { return other.id == id; }))
      return fail(Fault::usage, "devices: " + written(entry.spec) + " is named twice (" + id + ")",
                  "Name each device once");
    if (emulated) id = unique(entry.name.empty() ? id : entry.name, taken);
    if (!entry.name.empty()) device.name = entry.name;
    std::string label = gpu ? entry.name.empty() ? written(entry.spec) : entry.name : id;
    chosen.push_back({.id = std::move(id), .label = std::move(label), .device = std::move(device)});
  }
  return chosen;
}

std::string device_id(std::span<const ChosenDevice> devices, const std::string& label_or_id) {
  const auto found = std::ranges::find(devices, label_or_id, &ChosenDevice::label);
  return found == devices.end() ? label_or_id : found->id;
}

}  // namespace tutti
