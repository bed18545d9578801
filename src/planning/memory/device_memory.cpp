#include "planning/memory/device_memory.h"

#include <algorithm>

#include "base/instruction_sets.h"
#include "device/device_spec.h"
#include "device/machine.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

std::optional<DeviceMemory> of_the_machine(const ResolvedDevice& cpu) {
  const auto memory = read_memory();
  if (!memory) return {};
  return DeviceMemory{
      .name = cpu.name, .available = memory->available, .byte_cross = usable_instructions().has(Instructions::avx2)};
}

std::optional<DeviceMemory> of_gpu(const ResolvedDevice& chosen, const MachineDevices& devices) {
  for (const auto& gpu : devices.visible) {
    if (gpu.uuid != chosen.uuid || !gpu.memory_total) continue;
    const auto taken = gpu.memory_used.value_or(Bytes{}).value + kDriverMemory.value;
    return DeviceMemory{.name = chosen.name,
                        .gpu = true,
                        .available = {std::max<std::int64_t>(0, gpu.memory_total->value - taken)},
                        .byte_cross = true,
                        .capability = gpu.capability};
  }
  return {};
}

}  // namespace

std::optional<DeviceMemory> device_memory(const std::string& device) {
  const auto spec = parse_device(device);
  if (!spec) return {};
  const auto devices = find_devices();
  const auto chosen = resolve(*spec, devices);
  if (!chosen) return {};
  switch (chosen->kind) {
    case ResolvedDevice::Kind::cpu: return of_the_machine(*chosen);
    case ResolvedDevice::Kind::cuda: return of_gpu(*chosen, devices);
    case ResolvedDevice::Kind::emulated: break;
  }
  if (!chosen->memory) return {};
  return DeviceMemory{.name = chosen->name, .gpu = true, .available = *chosen->memory, .byte_cross = true};
}

std::optional<DeviceMemory> card_of_model(std::string_view model) {
  // nvidia-smi's total, and what the driver keeps of it without any process: 256 MiB for the GPU's own processor
  // (github.com/NVIDIA/open-gpu-kernel-modules/issues/357, a T4).
  constexpr std::int64_t kMebibyte = 1 << 20, kTotal = 15'360 * kMebibyte, kDriver = 256 * kMebibyte;
  if (model != "T4") return {};
  return DeviceMemory{.name = "Tesla T4",
                      .gpu = true,
                      .available = {kTotal - kDriver - kDriverMemory.value},
                      .byte_cross = true,
                      .capability = ComputeCapability{7, 5}};
}

bool computes_in(const std::string& compute_type, const DeviceMemory& device) {
  constexpr ComputeCapability kAmpere{8, 0};
  const bool needs_ampere = compute_type == "tf32" || compute_type == "bfloat16";
  return !needs_ampere || !device.capability || *device.capability >= kAmpere;
}

NumberSizes sizes_there(const std::string& compute_type, const DeviceMemory& device) {
  const std::string taken = type_on(compute_type, !device.gpu);
  auto sizes = number_sizes(taken).value_or(NumberSizes{});
  if (taken == "int8" && device.byte_cross) sizes.cross = kByteCross;
  return device.gpu ? on_gpu(sizes) : sizes;
}

}  // namespace tutti
