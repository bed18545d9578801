#include "device/nvml/readings.h"

namespace tutti {
namespace {

Bytes bytes(unsigned long long count) {
  return Bytes{static_cast<std::int64_t>(count)};
}

template <class Number>
std::optional<double> scaled(std::optional<Number> number, double by) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number) * by;
}

/// From free and reserved, since `used` means different things in different drivers.
GpuMemory read_memory(NvmlQuery& query) {
  GpuMemory memory;
  nvml::MemoryV2 v2{};
  v2.version = nvml::kMemoryV2;
  if (query.call(query.library().memory_v2, &v2) && v2.total >= v2.free + v2.reserved) {
    memory.total = bytes(v2.total);
    memory.free = bytes(v2.free);
    memory.reserved = bytes(v2.reserved);
    memory.used = bytes(v2.total - v2.free - v2.reserved);
  } else if (const auto v1 = query.value(query.library().memory); v1 && v1->total >= v1->free) {
    memory.total = bytes(v1->total);
    memory.free = bytes(v1->free);
    memory.used = bytes(v1->total - v1->free);
  }
  return memory;
}

/// One of NVML's numbered fields, as a number.
std::optional<double> read_field(NvmlQuery& query, unsigned id) {
  nvml::FieldValue field{};
  field.field = id;
  if (!query.call(query.library().fields, 1, &field) || field.code != nvml::kSuccess) return std::nullopt;
  if (field.type == nvml::kTypeDouble) return field.value.real;
  if (field.type == nvml::kTypeUnsigned)
    return nvml::is_blank(field.value.small) ? std::nullopt : std::optional<double>(field.value.small);
  if (nvml::is_blank(field.value.large)) return std::nullopt;
  return static_cast<double>(field.value.large);
}

std::string recovery_words(int action) {
  switch (action) {  // NVML_GPU_RECOVERY_ACTION_…
    case 0: return "none";
    case 1: return "reset the GPU";
    case 2: return "reboot the machine";
    case 3: return "end programs that use peer-to-peer memory";
    case 4: return "end all programs on it, then reset the GPU";
    case 5: return "recover the IMEX domain";
    case 6: return "reset the bus";
    case 7: return "reboot the whole system";
    default: return "action " + std::to_string(action);
  }
}

}  // namespace

void read_moving_values(NvmlQuery& query, unsigned long long& last_seen, GpuSnapshot& gpu) {
  const NvmlLibrary& library = query.library();
  gpu.memory = read_memory(query);
  if (const auto busy = query.value(library.utilisation)) {
    if (busy->gpu <= 100) gpu.utilisation.gpu = busy->gpu / 100.0;
    if (busy->memory <= 100) gpu.utilisation.memory = busy->memory / 100.0;
  }
  gpu.power = scaled(query.value(library.power), 1e-3);
  gpu.energy = scaled(query.value(library.energy), 1e-3);
  gpu.temperatures.gpu = scaled(query.value(library.temperature, nvml::kTemperatureOfGpu), 1);
  gpu.temperatures.memory = read_field(query, nvml::kFieldMemoryTemperature);
  gpu.clocks.graphics = scaled(query.value(library.clock, nvml::kGraphicsClock), 1e6);
  gpu.clocks.sm = scaled(query.value(library.clock, nvml::kSmClock), 1e6);
  gpu.clocks.memory = scaled(query.value(library.clock, nvml::kMemoryClock), 1e6);
  if (const auto mask = query.value(library.clocks_event_reasons)) gpu.throttled_by = throttle_reasons(*mask);
  gpu.processes = gpu_processes(query);
  if (gpu.processes) gpu.utilisation.by_process = add_process_utilisation(query, last_seen, *gpu.processes);
}

void read_steady_values(NvmlQuery& query, GpuSnapshot& gpu) {
  const NvmlLibrary& library = query.library();
  gpu.power_limit = scaled(query.value(library.power_limit), 1e-3);
  gpu.temperatures.slowdown_limit = scaled(query.value(library.temperature_limit, nvml::kSlowdownThreshold), 1);
  gpu.temperatures.shutdown_limit = scaled(query.value(library.temperature_limit, nvml::kShutdownThreshold), 1);
  gpu.clocks.graphics_max = scaled(query.value(library.clock_max, nvml::kGraphicsClock), 1e6);
  gpu.clocks.memory_max = scaled(query.value(library.clock_max, nvml::kMemoryClock), 1e6);
  gpu.errors.ecc_corrected = query.value(library.ecc_errors, nvml::kCorrected, nvml::kVolatile);
  gpu.errors.ecc_uncorrected = query.value(library.ecc_errors, nvml::kUncorrected, nvml::kVolatile);
  if (const auto action = read_field(query, nvml::kFieldRecoveryAction))
    gpu.errors.recovery_action = recovery_words(static_cast<int>(*action));
  if (const auto generation = query.value(library.pcie_generation)) gpu.pcie.generation = static_cast<int>(*generation);
  if (const auto width = query.value(library.pcie_width)) gpu.pcie.width = static_cast<int>(*width);
  unsigned now = 0, pending = 0;
  if (query.call(library.mig_mode, &now, &pending)) gpu.mig = now == 1;
  if (gpu.mig.value_or(false)) gpu.mig_devices = mig_devices(library, query.device());
}

void keep_steady_values(const GpuSnapshot& older, GpuSnapshot& gpu) {
  gpu.power_limit = older.power_limit;
  gpu.temperatures.slowdown_limit = older.temperatures.slowdown_limit;
  gpu.temperatures.shutdown_limit = older.temperatures.shutdown_limit;
  gpu.clocks.graphics_max = older.clocks.graphics_max;
  gpu.clocks.memory_max = older.clocks.memory_max;
  gpu.errors = older.errors;
  gpu.pcie = older.pcie;
  gpu.mig = older.mig;
  gpu.mig_devices = older.mig_devices;
}

}  // namespace tutti
