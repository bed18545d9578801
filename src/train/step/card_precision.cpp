#include "train/step/card_precision.h"

namespace tutti {

std::string lacking_for(Precision precision, int capability) {
  constexpr int kAmpere = 80;
  if (capability == 0 || capability >= kAmpere) return {};
  switch (precision) {
    case Precision::bfloat16: return "GPUs before Ampere have no units for it and emulate it; they have float16's";
    case Precision::tf32: return "GPUs before Ampere have no TF32, products are float32's; they have float16's";
    case Precision::float32:
    case Precision::float16: break;
  }
  return {};
}

}  // namespace tutti
