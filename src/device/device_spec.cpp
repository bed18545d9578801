#include "device/device_spec.h"

#include <sched.h>

#include <vector>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/emulated_spec.h"
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
  return ResolvedDevice{.kind = ResolvedDevice::Kind::cuda,
                        .uuid = *gpu.uuid,
                        .name = gpu.name.value_or(*gpu.uuid),
                        .memory = gpu.memory_total};
}

std::string notes_of(const MachineDevices& devices) {
  std::string text;
  for (const auto& note : devices.notes) text += "; " + note;
  return text;
}

tl::unexpected<Error> not_there(const std::string& what, const MachineDevices& devices) {
  return fail(Fault::missing, what + notes_of(devices), "This machine has " + devices.choices());
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

/// CUDA shows the slices of a GPU in MIG mode and never the whole.
std::string why_invisible(const Gpu& gpu) {
  if (gpu.mig_devices.empty()) return "this GPU is hidden by CUDA_VISIBLE_DEVICES";
  return "this GPU is in MIG mode, name one of its slices: " +
         joined(gpu.mig_devices, ", ", [](const auto& slice) { return slice.uuid; });
}

Result<ResolvedDevice> by_uuid(const std::string& uuid, const MachineDevices& devices) {
  if (const Gpu* gpu = find_by_uuid(devices.visible, uuid)) return cuda(*gpu);
  if (const Gpu* gpu = find_by_uuid(devices.gpus, uuid)) return not_there(uuid + ": " + why_invisible(*gpu), devices);
  return not_there(uuid + ": no GPU, or more than one, has a UUID that begins so", devices);
}

/// Where none is given: as much as one of today's ordinary GPUs.
constexpr Bytes kUsualMemory{12'000'000'000};

Result<DeviceSpec> emulated(std::string_view text) {
  const auto figures = TRY(parse_emulated(text));
  DeviceSpec spec{.kind = DeviceSpec::Kind::emulated, .text = std::string(text)};
  spec.card.speed = figures.speed;
  spec.card.memory = figures.memory.value_or(kUsualMemory);
  spec.card.uuid = figures.gpu;
  return spec;
}

/// "cpu:0, cpu:1, cpu:5"
std::string cores_of(const cpu_set_t& allowed) {
  std::string text;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) text += (text.empty() ? "cpu:" : ", cpu:") + std::to_string(core);
  return text;
}

Result<ResolvedDevice> cpu_core(int core, const MachineDevices& devices) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(core), &allowed))
    return fail(Fault::missing, "cpu:" + std::to_string(core) + ": this process may not use such a core",
                "It may use " + cores_of(allowed));
  return ResolvedDevice{
      .kind = ResolvedDevice::Kind::cpu, .name = "core " + std::to_string(core) + " of " + devices.cpu, .core = core};
}

Result<ResolvedDevice> played(const DeviceSpec& spec, const MachineDevices& devices) {
  ResolvedDevice device{
      .kind = ResolvedDevice::Kind::emulated, .name = spec.text, .memory = spec.card.memory, .card = spec.card};
  if (spec.card.uuid.empty()) return device;
  const auto gpu = by_uuid(spec.card.uuid, devices);
  if (!gpu) return gpu;
  device.uuid = device.card.uuid = gpu->uuid;
  device.name = gpu->name + " (emulated)";
  return device;
}

/// The right form nearest to what was written.
std::string nearest_form(std::string_view text) {
  const std::string kind(text.substr(0, text.find_first_of(":@")));
  static const std::vector<std::string> kinds{"auto", "cuda", "cpu", "emulated", "GPU-uuid", "gpu"};
  const std::string nearest = nearest_name(kind, kinds);
  if (nearest == "cpu") return "cpu, or cpu:N for core N alone";
  if (nearest == "cuda" || nearest == "gpu") return "cuda:N, the N-th GPU in PCI order";
  if (nearest == "emulated") return "emulated:30x:12GB, with speed and memory, or emulated:30x:12GB@GPU-uuid";
  if (nearest == "GPU-uuid") return "the UUID of a GPU, as nvidia-smi -L writes it: GPU-5a3f…";
  return nearest;
}

}  // namespace

bool is_usable(const Gpu& gpu) {
  return gpu.uuid && gpu.capability.value_or(kOldestCapability) >= kOldestCapability;
}

Result<DeviceSpec> parse_device(std::string_view text) {
  using Kind = DeviceSpec::Kind;
  if (text == "auto") return DeviceSpec{.kind = Kind::automatic};
  if (text == "cpu") return DeviceSpec{.kind = Kind::cpu};
  if (text == "cuda") return DeviceSpec{.kind = Kind::cuda_index};
  if ((text.starts_with("GPU-") || text.starts_with("MIG-")) && text.size() > 4)
    return DeviceSpec{.kind = Kind::uuid, .uuid = std::string(text)};
  if (text.starts_with("cuda:"))
    if (const auto index = number_in<std::size_t>(text.substr(5)))
      return DeviceSpec{.kind = Kind::cuda_index, .index = *index};
  if (text.starts_with("cpu:"))
    if (const auto core = number_in<int>(text.substr(4)); core && *core >= 0)
      return DeviceSpec{.kind = Kind::cpu, .core = *core};
  if (text.starts_with("emulated:")) return emulated(text);
  const std::string form = nearest_form(text);
  return fail(Fault::usage,
              "device '" + std::string(text) +
                  "': expected auto, cpu, cpu:N, cuda:N, the UUID of a GPU (GPU-…) or of a slice " +
                  "of one (MIG-…), or emulated:30x:12GB",
              (form.empty() ? "" : "Nearest is " + form + ". ") + "`tutti doctor` lists the devices of this machine");
}

Result<ResolvedDevice> resolve(const DeviceSpec& spec, const MachineDevices& devices) {
  switch (spec.kind) {
    case DeviceSpec::Kind::automatic: return choose(devices);
    case DeviceSpec::Kind::cpu: return spec.core ? cpu_core(*spec.core, devices) : cpu_of(devices);
    case DeviceSpec::Kind::uuid: return by_uuid(spec.uuid, devices);
    case DeviceSpec::Kind::emulated: return played(spec, devices);
    case DeviceSpec::Kind::cuda_index: break;
  }
  if (spec.index < devices.visible.size()) return cuda(devices.visible[spec.index]);
  return not_there("cuda:" + std::to_string(spec.index) + ": there is no such GPU", devices);
}

}  // namespace tutti
