#include "device/telemetry/metrics.h"

#include <algorithm>
#include <string>

#include "base/clock.h"

namespace tutti {
namespace {

using MaybeNumber = std::optional<double>;

MaybeNumber number(const std::optional<Bytes>& bytes) {
  return bytes ? MaybeNumber(static_cast<double>(bytes->value)) : std::nullopt;
}

MaybeNumber number(const std::optional<int>& count) {
  return count ? MaybeNumber(*count) : std::nullopt;
}

/// Collects series; sorted by name in the end, as prometheus_text wants them.
class Series {
 public:
  void gauge(const char* name, Labels labels, MaybeNumber value, const char* help) {
    if (value) all_.push_back({{name, std::move(labels)}, help, *value});
  }
  void counter(const char* name, Labels labels, std::optional<std::uint64_t> value, const char* help) {
    if (value) all_.push_back({{name, std::move(labels)}, help, *value});
  }
  std::vector<MetricSnapshot> sorted() {
    std::stable_sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return std::move(all_);
  }

 private:
  std::vector<MetricSnapshot> all_;
};

Labels with(const Labels& labels, const char* name, std::string value) {
  Labels more = labels;
  more.emplace_back(name, std::move(value));
  return more;
}

void add_identity(Series& series, const GpuSnapshot& gpu, const Labels& labels, Clock::Instant now) {
  Labels info = with(labels, "name", gpu.name.value_or(""));
  info.emplace_back("pci_bus_id", gpu.pci_bus_id.value_or(""));
  series.gauge("tutti_gpu_info", std::move(info), 1.0, "What the GPU is");
  for (const GpuState state : {GpuState::ok, GpuState::lost, GpuState::hung})
    series.gauge("tutti_gpu_state", with(labels, "state", std::string(name_of(state))), gpu.state == state ? 1 : 0,
                 "1 for the state the GPU is in");
  if (const auto age = gpu.age(now))
    series.gauge("tutti_gpu_age_seconds", labels, age->count(), "Age of the GPU's values");
  series.gauge("tutti_gpu_index", labels, number(gpu.index), "As nvidia-smi counts");
}

void add_load(Series& series, const GpuSnapshot& gpu, const Labels& labels) {
  const auto& use = gpu.utilisation;
  series.gauge("tutti_gpu_utilization_ratio", labels, use.gpu, "Part of the time with some kernel on the GPU");
  series.gauge("tutti_gpu_own_utilization_ratio", labels, use.own, "The same, by our processes");
  series.gauge("tutti_gpu_foreign_utilization_ratio", labels, use.foreign, "The same, by others");
  series.gauge("tutti_gpu_memory_utilization_ratio", labels, use.memory, "Part of the time memory was in use");
  const auto& memory = gpu.memory;
  series.gauge("tutti_gpu_memory_total_bytes", labels, number(memory.total), "Memory of the GPU");
  series.gauge("tutti_gpu_memory_used_bytes", labels, number(memory.used), "Memory that processes hold");
  series.gauge("tutti_gpu_memory_reserved_bytes", labels, number(memory.reserved), "Memory that the driver holds");
  series.gauge("tutti_gpu_memory_free_bytes", labels, number(memory.free), "Memory that is not in use");
  series.gauge("tutti_gpu_memory_own_bytes", labels, number(memory.own), "Memory that our processes hold");
  series.gauge("tutti_gpu_memory_foreign_bytes", labels, number(memory.foreign), "Memory that others hold");
}

void add_sensors(Series& series, const GpuSnapshot& gpu, const Labels& labels) {
  series.gauge("tutti_gpu_power_watts", labels, gpu.power, "Power drawn");
  series.gauge("tutti_gpu_power_limit_watts", labels, gpu.power_limit, "Power that may be drawn");
  series.gauge("tutti_gpu_energy_joules_total", labels, gpu.energy, "Energy since the driver was loaded");
  const auto& heat = gpu.temperatures;
  const auto degrees = [&](const char* where, MaybeNumber value) {
    series.gauge("tutti_gpu_temperature_celsius", with(labels, "where", where), value, "Temperature");
  };
  degrees("gpu", heat.gpu);
  degrees("memory", heat.memory);
  series.gauge("tutti_gpu_slowdown_celsius", labels, heat.slowdown_limit, "The GPU slows down from here on");
  series.gauge("tutti_gpu_shutdown_celsius", labels, heat.shutdown_limit, "The GPU is switched off from here on");
  const auto clock = [&](const char* domain, MaybeNumber now, MaybeNumber most) {
    series.gauge("tutti_gpu_clock_hertz", with(labels, "domain", domain), now, "Clock");
    series.gauge("tutti_gpu_clock_max_hertz", with(labels, "domain", domain), most, "Highest clock");
  };
  clock("graphics", gpu.clocks.graphics, gpu.clocks.graphics_max);
  clock("sm", gpu.clocks.sm, std::nullopt);
  clock("memory", gpu.clocks.memory, gpu.clocks.memory_max);
  if (gpu.throttled_by)
    for (const auto& reason : *gpu.throttled_by)
      series.gauge("tutti_gpu_throttle_active", with(labels, "reason", std::string(reason.key)), 1, "Clocks held down");
}

void add_errors_and_links(Series& series, const GpuSnapshot& gpu, const Labels& labels) {
  const auto ecc = [&](const char* kind, std::optional<std::uint64_t> count) {
    series.counter("tutti_gpu_ecc_errors_total", with(labels, "kind", kind), count, "Since the driver was loaded");
  };
  ecc("corrected", gpu.errors.ecc_corrected);
  ecc("uncorrected", gpu.errors.ecc_uncorrected);
  if (gpu.errors.xids)
    for (const auto& [code, xid] : *gpu.errors.xids) {
      const auto label = with(labels, "xid", std::to_string(code));
      series.counter("tutti_gpu_xid_total", label, xid.count, "Errors that the driver reported");
      series.gauge("tutti_gpu_xid_last_timestamp_seconds", label, unix_seconds(xid.last), "When it was last reported");
    }
  if (gpu.errors.recovery_action)
    series.gauge("tutti_gpu_recovery_action", with(labels, "action", *gpu.errors.recovery_action), 1,
                 "The action that the driver requests");
  series.gauge("tutti_gpu_pcie_generation", labels, number(gpu.pcie.generation), "Of the link as it is now");
  series.gauge("tutti_gpu_pcie_width", labels, number(gpu.pcie.width), "Lanes of the link as it is now");
  const auto traffic = [&](const char* direction, MaybeNumber value) {
    series.gauge("tutti_gpu_pcie_bytes_per_second", with(labels, "direction", direction), value, "PCIe traffic");
  };
  traffic("sent", gpu.pcie.sent);
  traffic("received", gpu.pcie.received);
}

void add_host(Series& series, const MachineSnapshot& all) {
  const HostSnapshot& host = all.host;
  series.gauge("tutti_host_busy_ratio", {}, host.busy, "Part of the time the cores were busy");
  for (std::size_t core = 0; core < host.core_busy.size(); ++core)
    series.gauge("tutti_host_core_busy_ratio", {{"core", std::to_string(core)}}, host.core_busy[core], "One core");
  series.gauge("tutti_host_memory_total_bytes", {}, number(host.memory_total), "Memory that we may use");
  series.gauge("tutti_host_memory_available_bytes", {}, number(host.memory_available), "What is left of it");
  series.gauge("tutti_host_swap_total_bytes", {}, number(host.swap_total), "Swap");
  series.gauge("tutti_host_swap_used_bytes", {}, number(host.swap_used), "Swap in use");
  for (std::size_t i = 0; i < host.disks.size(); ++i) {
    // By number: metrics do not reveal paths.
    const Labels labels{{"disk", std::to_string(i)}};
    series.gauge("tutti_host_disk_total_bytes", labels, number(host.disks[i].total), "Size of a watched disk");
    series.gauge("tutti_host_disk_free_bytes", labels, number(host.disks[i].free), "Free space on a watched disk");
    const auto traffic = [&](const char* direction, MaybeNumber value) {
      series.gauge("tutti_host_disk_bytes_per_second", with(labels, "direction", direction), value,
                   "Traffic of a watched disk");
    };
    traffic("read", host.disks[i].read);
    traffic("written", host.disks[i].written);
  }
  series.gauge("tutti_collect_last_success_timestamp_seconds", {}, unix_seconds(all.wall_clock),
               "When this was collected");
}

}  // namespace

std::vector<MetricSnapshot> snapshot_metrics(const MachineSnapshot& snapshot) {
  Series series;
  for (const auto& gpu : snapshot.gpus) {
    const Labels labels{{"gpu_uuid", gpu.uuid}};
    add_identity(series, gpu, labels, snapshot.when);
    add_load(series, gpu, labels);
    add_sensors(series, gpu, labels);
    add_errors_and_links(series, gpu, labels);
  }
  add_host(series, snapshot);
  return series.sorted();
}

}  // namespace tutti
