#include "model/decoder_step/step_device.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "base/environment.h"
#include "model/device_name.h"
#include "model/gpu.h"

namespace tutti {

KernelsNow kernels_of(at::Device device) {
  if (device.is_cpu()) return {&host_step_kernels(), nullptr};
  const auto* kernels = gpu::step_kernels();
  if (!kernels) throw std::runtime_error("device " + device.str() + " has no step kernels");
  return {kernels, gpu::current_stream(index_of(device))};
}

StepDevice gpu_step_device(int index, bool record) {
  const auto facts = gpu::facts(index);
  // A step's small kernels go before those of an encoding beside it, which has thousands of blocks waiting.
  return {.processors = facts ? facts->processors : 1,
          .recorder = record ? gpu::make_recorder(index, gpu::Urgency::high) : nullptr};
}

std::string_view way_of_steps() {
  const char* way = std::getenv(own_variables::kStep);
  return way ? way : "";
}

bool excludes_step_kernels() {
  return way_of_steps() == "eager";
}

StepDevice with_beams(StepDevice device, std::int32_t beams) {
  device.beams = way_of_steps() == "apart" ? 1 : std::max(beams, 1);
  return device;
}

Number number_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return Number::float32;
    case at::kHalf: return Number::float16;
    case at::kBFloat16: return Number::bfloat16;
    case at::kChar: return Number::int8;
    case at::kInt: return Number::int32;
    default: throw std::invalid_argument("a step has no numbers of that type");
  }
}

}  // namespace tutti
