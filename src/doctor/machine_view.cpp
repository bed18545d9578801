#include "doctor/machine_view.h"

#include <algorithm>

#include "base/strings.h"
#include "view/text.h"

namespace tutti {
namespace {

std::string id_of(const GpuSnapshot& gpu) {
  if (gpu.cuda_order) return "cuda:" + std::to_string(*gpu.cuda_order);
  return gpu.index ? "GPU " + std::to_string(*gpu.index) + " (hidden)" : gpu.uuid;
}

/// Loads, memory, power: what a device has whether or not a run is on it.
void add_readings(DeviceStatus& device, const GpuSnapshot& gpu, Clock::Instant now) {
  device.own_load = gpu.utilisation.own;
  device.foreign_load = gpu.utilisation.foreign;
  // A driver that does not list processes separately still reports how busy the GPU is.
  if (!device.own_load && !device.foreign_load) device.own_load = gpu.utilisation.gpu;
  device.own_memory = gpu.memory.own;
  device.foreign_memory = gpu.memory.foreign;
  if (!device.own_memory && !device.foreign_memory) device.own_memory = gpu.memory.used;
  device.total_memory = gpu.memory.total;
  device.watts = gpu.power;
  device.celsius = gpu.temperatures.gpu;
  device.data_age = gpu.age(now);
  if (device.name.empty()) device.name = gpu.name.value_or("");
}

bool is_throttled(const GpuSnapshot& gpu) {
  return gpu.throttled_by && !gpu.throttled_by->empty();
}

std::string throttle_text(const GpuSnapshot& gpu) {
  return joined(*gpu.throttled_by, ", ", [](const ThrottleReason& reason) { return reason.words; });
}

DeviceStatus device_of(const GpuSnapshot& gpu, Clock::Instant now) {
  DeviceStatus device{.id = id_of(gpu), .uuid = gpu.uuid, .state = std::string(name_of(gpu.state))};
  device.reason = gpu.reason;
  device.since = now - gpu.since;
  if (gpu.state == GpuState::ok && is_throttled(gpu)) {
    device.state = "throttled";
    device.reason = throttle_text(gpu);
    device.since = Seconds(0);  // telemetry knows since when the GPU answers, not since when it is slow
  }
  add_readings(device, gpu, now);
  return device;
}

void add_line(std::vector<std::string>& lines, const char* title, const std::string& text) {
  if (!text.empty()) lines.push_back(fitted(title, 10) + text);
}

std::string of_limit(const std::optional<double>& value, const std::optional<double>& limit, const char* unit) {
  if (!value) return {};
  return short_number(*value) + unit + (limit ? " of " + short_number(*limit) + unit : "");
}

std::string megahertz(const std::optional<double>& value, const std::optional<double>& limit) {
  const auto scaled = [](const std::optional<double>& hertz) {
    return hertz ? std::optional(*hertz / 1e6) : std::nullopt;
  };
  return of_limit(scaled(value), scaled(limit), " MHz");
}

std::string errors_text(const GpuErrors& errors) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (errors.xids)
    for (const auto& [code, seen] : *errors.xids)
      add("Xid " + std::to_string(code) + " ×" + std::to_string(seen.count));
  if (errors.ecc_uncorrected) add(std::to_string(*errors.ecc_uncorrected) + " ECC uncorrected");
  if (errors.recovery_action && *errors.recovery_action != "none") add("driver advises: " + *errors.recovery_action);
  return text;
}

std::string pcie_text(const GpuPcie& pcie) {
  std::string text;
  if (pcie.generation && pcie.width)
    text = "gen " + std::to_string(*pcie.generation) + " ×" + std::to_string(*pcie.width);
  if (pcie.sent && pcie.received)
    text += (text.empty() ? "" : ", ") + short_number(*pcie.received / 1e6) + " MB/s in, " +
            short_number(*pcie.sent / 1e6) + " MB/s out";
  return text;
}

std::vector<std::string> details_of(const GpuSnapshot& gpu) {
  std::vector<std::string> lines;
  add_line(lines, "BUS", gpu.pci_bus_id.value_or(""));
  add_line(lines, "POWER", of_limit(gpu.power, gpu.power_limit, " W"));
  add_line(lines, "TEMP", of_limit(gpu.temperatures.gpu, gpu.temperatures.slowdown_limit, " °C"));
  add_line(lines, "CLOCK", megahertz(gpu.clocks.sm, gpu.clocks.graphics_max));
  add_line(lines, "PCIE", pcie_text(gpu.pcie));
  add_line(lines, "SLOWED BY", is_throttled(gpu) ? throttle_text(gpu) : "");
  add_line(lines, "ERRORS", errors_text(gpu.errors));
  add_line(lines, "DOUBT", gpu.utilisation.doubt.value_or(""));
  return lines;
}

void add_processes(TopData& data, const MachineSnapshot& snapshot) {
  for (const ProcessSnapshot& process : snapshot.host.processes)
    data.processes.push_back({.pid = process.pid,
                              .name = process.name,
                              .own = process.own,
                              .cores = process.cores,
                              .resident = process.resident});
  for (const GpuSnapshot& gpu : snapshot.gpus)
    for (const GpuProcess& process : gpu.processes.value_or(std::vector<GpuProcess>{})) {
      auto row = std::find_if(data.processes.begin(), data.processes.end(),
                              [&](const ProcessStatus& known) { return known.pid == process.pid; });
      if (row == data.processes.end())
        row = data.processes.insert(row, {.pid = process.pid, .name = process.name, .own = process.own});
      row->device += (row->device.empty() ? "" : " ") + id_of(gpu);
      if (process.memory)
        row->device_memory = Bytes{row->device_memory.value_or(Bytes{}).value + process.memory->value};
    }
}

void add_machine(TopData& data, const MachineSnapshot& snapshot) {
  const HostSnapshot& host = snapshot.host;
  data.host = {host.busy, host.memory_total, host.memory_available, host.swap_total, host.swap_used, {}};
  for (const DiskSnapshot& disk : host.disks)
    data.host.disks.push_back({disk.path, disk.total, disk.free, disk.read, disk.written});
  data.notes.insert(data.notes.end(), snapshot.notes.begin(), snapshot.notes.end());
  add_processes(data, snapshot);
}

}  // namespace

TopData machine_view(const MachineSnapshot& snapshot, Clock::Instant now) {
  TopData data{.title = "this machine" + (snapshot.driver ? ", driver " + *snapshot.driver : std::string())};
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    data.devices.push_back(device_of(gpu, now));
    data.details[data.devices.back().id] = details_of(gpu);
  }
  add_machine(data, snapshot);
  return data;
}

void add_telemetry(TopData& run, const MachineSnapshot& snapshot, Clock::Instant now) {
  for (DeviceStatus& device : run.devices) {
    const GpuSnapshot* gpu = device.uuid.empty() ? nullptr : snapshot.gpu(device.uuid);
    if (!gpu) continue;
    // The run's own figures of load and memory go before.
    const DeviceStatus reported = device;
    add_readings(device, *gpu, now);
    if (reported.own_load || reported.foreign_load) {
      device.own_load = reported.own_load;
      device.foreign_load = reported.foreign_load;
    }
    if (reported.own_memory || reported.foreign_memory) {
      device.own_memory = reported.own_memory;
      device.foreign_memory = reported.foreign_memory;
    }
    run.details[device.id] = details_of(*gpu);
  }
  add_machine(run, snapshot);
}

}  // namespace tutti
