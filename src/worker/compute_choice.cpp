#include "worker/compute_choice.h"

#include <optional>

#include "model/device_name.h"
#include "model/gpu.h"

namespace tutti {
namespace {

constexpr int kTuring = 75;
constexpr int kAmpere = 80;

/// The next best type and the reason, where the device does not have this one.
std::optional<ComputeChoice> next_best(ComputeType type, const DeviceAbility& device) {
  switch (type.kind()) {
    case ComputeType::float32: return {};
    case ComputeType::tf32:
      if (device.cuda && device.capability >= kAmpere) return {};
      return ComputeChoice{ComputeType::float32, device.cuda ? "GPUs before Ampere have no TF32" : "CPUs have no TF32"};
    case ComputeType::bfloat16:
      if (!device.cuda || device.capability >= kAmpere) return {};
      return ComputeChoice{ComputeType::float16, "GPUs before Ampere have no bfloat16"};
    case ComputeType::float16:
      if (device.cuda) return {};
      return ComputeChoice{ComputeType::float32, "CPUs do not compute in float16"};
    case ComputeType::int8:
      if (device.cuda) return ComputeChoice{ComputeType::int8_float16, "on a GPU int8 goes with float16"};
      if (device.own_kernels) return {};
      return ComputeChoice{ComputeType::float32, "int8 needs a CPU with AVX2"};
    case ComputeType::int8_float16:
      if (!device.cuda) return ComputeChoice{ComputeType::int8, "CPUs do not compute in float16"};
      if (device.capability >= kTuring) return {};
      return ComputeChoice{ComputeType::float16, "GPUs before Turing have no int8 products"};
  }
  return {};
}

}  // namespace

DeviceAbility ability_of(at::Device device) {
  if (!device.is_cuda()) return {.own_kernels = layout_of(ComputeType::int8, device).own_kernels};
  const auto facts = gpu::facts(index_of(device));
  return {.cuda = true, .capability = facts ? facts->capability : 0};
}

Result<ComputeChoice> choose_compute_type(const std::string& name, const DeviceAbility& device) {
  const auto requested = ComputeType::named(name);
  if (!requested) {
    return fail(Fault::usage, "compute type " + name + " is not known",
                "Use auto, float32, tf32, bfloat16, float16, int8 or int8_float16");
  }
  ComputeChoice choice{*requested};
  while (auto next = next_best(choice.type, device)) {
    choice = {next->type, choice.why.empty() ? next->why : choice.why + "; " + next->why};
  }
  return choice;
}

}  // namespace tutti
