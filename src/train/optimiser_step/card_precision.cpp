#include "train/optimiser_step/card_precision.h"

namespace tutti {

std::string unsupported_reason(StepPrecision precision, int capability) {
  constexpr int kAmpere = 80;
  if (capability == 0 || capability >= kAmpere) return {};
  switch (precision) {
    case StepPrecision::bfloat16: return "GPUs before Ampere have no units for it and emulate it; they have float16's";
    case StepPrecision::tf32: return "GPUs before Ampere have no TF32, products are float32's; they have float16's";
    case StepPrecision::float32:
    case StepPrecision::float16: break;
  }
  return {};
}

}  // namespace tutti
