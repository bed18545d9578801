#include "device/nvml/values.h"

#include "device/nvml/listing.h"
#include "device/nvml/processes.h"

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
GpuMemory read_memory(NvmlAsker& ask) {
  GpuMemory memory;
  nvml::MemoryV2 v2{};
  v2.version = nvml::kMemoryV2;
  if (ask.call(ask.library().memory_v2, &v2) && v2.total >= v2.free + v2.reserved) {
    memory.total = bytes(v2.total);
    memory.free = bytes(v2.free);
    memory.reserved = bytes(v2.reserved);
    memory.used = bytes(v2.total - v2.free - v2.reserved);
  } else if (const auto v1 = ask.value(ask.library().memory); v1 && v1->total >= v1->free) {
    memory.total = bytes(v1->total);
    memory.free = bytes(v1->free);
    memory.used = bytes(v1->total - v1->free);
  }
  return memory;
}

/// One of NVML's numbered fields, as a number.
std::optional<double> read_field(NvmlAsker& ask, unsigned id) {
  nvml::FieldValue field{};
  field.field = id;
  if (!ask.call(ask.library().fields, 1, &field) || field.code != nvml::kSuccess) return std::nullopt;
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

void read_moving_values(NvmlAsker& ask, unsigned long long& last_seen, GpuSnapshot& gpu) {
  const NvmlLibrary& library = ask.library();
  gpu.memory = read_memory(ask);
  if (const auto busy = ask.value(library.utilisation)) {
    if (busy->gpu <= 100) gpu.utilisation.gpu = busy->gpu / 100.0;
    if (busy->memory <= 100) gpu.utilisation.memory = busy->memory / 100.0;
  }
  gpu.power = scaled(ask.value(library.power), 1e-3);
  gpu.energy = scaled(ask.value(library.energy), 1e-3);
  gpu.temperatures.gpu = scaled(ask.value(library.temperature, nvml::kTemperatureOfGpu), 1);
  gpu.temperatures.memory = read_field(ask, nvml::kFieldMemoryTemperature);
  gpu.clocks.graphics = scaled(ask.value(library.clock, nvml::kGraphicsClock), 1e6);
  gpu.clocks.sm = scaled(ask.value(library.clock, nvml::kSmClock), 1e6);
  gpu.clocks.memory = scaled(ask.value(library.clock, nvml::kMemoryClock), 1e6);
  if (const auto mask = ask.value(library.clocks_event_reasons)) gpu.throttled_by = throttle_reasons(*mask);
  gpu.processes = gpu_processes(ask);
  if (gpu.processes) gpu.utilisation.by_process = add_process_utilisation(ask, last_seen, *gpu.processes);
}

void read_steady_values(NvmlAsker& ask, GpuSnapshot& gpu) {
  const NvmlLibrary& library = ask.library();
  gpu.power_limit = scaled(ask.value(library.power_limit), 1e-3);
  gpu.temperatures.slowdown_limit = scaled(ask.value(library.temperature_limit, nvml::kSlowdownThreshold), 1);
  gpu.temperatures.shutdown_limit = scaled(ask.value(library.temperature_limit, nvml::kShutdownThreshold), 1);
  gpu.clocks.graphics_max = scaled(ask.value(library.clock_max, nvml::kGraphicsClock), 1e6);
  gpu.clocks.memory_max = scaled(ask.value(library.clock_max, nvml::kMemoryClock), 1e6);
  gpu.errors.ecc_corrected = ask.value(library.ecc_errors, nvml::kCorrected, nvml::kVolatile);
  gpu.errors.ecc_uncorrected = ask.value(library.ecc_errors, nvml::kUncorrected, nvml::kVolatile);
  if (const auto action = read_field(ask, nvml::kFieldRecoveryAction))
    gpu.errors.recovery_action = recovery_words(static_cast<int>(*action));
  if (const auto generation = ask.value(library.pcie_generation)) gpu.pcie.generation = static_cast<int>(*generation);
  if (const auto width = ask.value(library.pcie_width)) gpu.pcie.width = static_cast<int>(*width);
  unsigned now = 0, pending = 0;
  if (ask.call(library.mig_mode, &now, &pending)) gpu.mig = now == 1;
  if (gpu.mig.value_or(false)) gpu.mig_devices = mig_devices(library, ask.device());
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
