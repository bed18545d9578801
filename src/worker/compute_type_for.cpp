#include "worker/compute_type_for.h"

#include <ATen/Parallel.h>

#include "base/log.h"
#include "device/machine.h"
#include "model/device_name.h"
#include "worker/automatic_type.h"
#include "worker/compute_choice.h"
#include "worker/cuda_driver.h"

namespace tutti {
namespace {

/// The device as a self-test's result depends on it.
std::string self_of(const at::Device& device) {
  if (device.is_cuda()) {
    const auto gpu = visible_cuda_device(index_of(device));
    return gpu ? gpu->name + " driver " + std::to_string(gpu->driver) : device.str();
  }
  const auto cpu = read_cpu();
  std::string self = cpu.model.value_or("CPU") + " " + std::to_string(cpu.cores) + " cores, " +
                     std::to_string(at::get_num_threads()) + " threads";
  for (const auto& feature : cpu.features) self += " " + feature;
  return self;
}

}  // namespace

Result<ComputeType> compute_type_for(const std::string& name, const std::filesystem::path& model, at::Device device,
                                     std::string_view build) {
  if (name == "auto") {
    const auto choice = automatic_type({model, self_of(device), std::string(build)}, device, ability_of(device));
    if (!choice) return tl::unexpected<Error>(choice.error());
    log(Level::info, "compute type auto: " + std::string(choice->type.name()) + ", " + choice->why);
    return choice->type;
  }
  const auto choice = choose_compute_type(name, ability_of(device));
  if (!choice) return tl::unexpected<Error>(choice.error());
  if (!choice->why.empty()) {
    log(Level::warning,
        "compute type " + name + ": " + std::string(choice->type.name()) + " is used, because " + choice->why);
  }
  return choice->type;
}

}  // namespace tutti
