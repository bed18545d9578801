#include "device/device_spec.h"

#include <charconv>

#include "device/visible.h"

namespace tutti {
namespace {

ResolvedDevice cpu_of(const MachineDevices& devices) {
  return {.kind = ResolvedDevice::Kind::cpu, .name = devices.cpu};
}

Result<ResolvedDevice> cuda(const Gpu& gpu) {
  if (!gpu.uuid)
    return fail(Fault::device,
                "GPU " + gpu.text() + ": the driver does not say its UUID, so no process can be bound to it",
                "Install a newer NVIDIA driver");
  return ResolvedDevice{.kind = ResolvedDevice::Kind::cuda, .uuid = *gpu.uuid, .name = gpu.name.value_or(*gpu.uuid)};
}

std::string notes_of(const MachineDevices& devices) {
  std::string text;
  for (const auto& note : devices.notes) text += "; " + note;
  return text;
}

tl::unexpected<Error> not_there(const std::string& what, const MachineDevices& devices) {
  return fail(Fault::missing, what + notes_of(devices), "This machine has " + devices.choices());
}

bool is_usable(const Gpu& gpu) {
  return gpu.uuid && gpu.capability.value_or(kOldestCapability) >= kOldestCapability;
}

std::int64_t free_memory(const Gpu& gpu) {
  return gpu.memory_total.value_or(Bytes{}).value - gpu.memory_used.value_or(Bytes{}).value;
}

Result<ResolvedDevice> choose(const MachineDevices& devices) {
  const Gpu* best = nullptr;
  for (const auto& gpu : devices.visible)
    if (is_usable(gpu) && (!best || free_memory(gpu) > free_memory(*best))) best = &gpu;
  return best ? cuda(*best) : cpu_of(devices);
}

Result<ResolvedDevice> by_uuid(const std::string& uuid, const MachineDevices& devices) {
  if (const Gpu* gpu = find_by_uuid(devices.visible, uuid)) return cuda(*gpu);
  if (find_by_uuid(devices.gpus, uuid))
    return not_there(uuid + ": this GPU is hidden by CUDA_VISIBLE_DEVICES", devices);
  return not_there(uuid + ": no GPU, or more than one, has a UUID that begins so", devices);
}

}  // namespace

Result<DeviceSpec> parse_device(std::string_view text) {
  using Kind = DeviceSpec::Kind;
  if (text == "auto") return DeviceSpec{.kind = Kind::automatic};
  if (text == "cpu") return DeviceSpec{.kind = Kind::cpu};
  if (text == "cuda") return DeviceSpec{.kind = Kind::cuda_index};
  if ((text.starts_with("GPU-") || text.starts_with("MIG-")) && text.size() > 4)
    return DeviceSpec{.kind = Kind::uuid, .uuid = std::string(text)};
  if (text.starts_with("cuda:")) {
    DeviceSpec spec{.kind = Kind::cuda_index};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, spec.index);
    if (error == std::errc() && stop == end) return spec;
  }
  return fail(Fault::usage,
              "device '" + std::string(text) +
                  "': expected auto, cpu, cuda:N or the UUID of a GPU (GPU-…) or of a slice of one (MIG-…)",
              "`tutti doctor` lists the devices of this machine");
}

Result<ResolvedDevice> resolve(const DeviceSpec& spec, const MachineDevices& devices) {
  switch (spec.kind) {
    case DeviceSpec::Kind::automatic: return choose(devices);
    case DeviceSpec::Kind::cpu: return cpu_of(devices);
    case DeviceSpec::Kind::uuid: return by_uuid(spec.uuid, devices);
    case DeviceSpec::Kind::cuda_index: break;
  }
  if (spec.index < devices.visible.size()) return cuda(devices.visible[spec.index]);
  return not_there("cuda:" + std::to_string(spec.index) + ": there is no such GPU", devices);
}

}  // namespace tutti
