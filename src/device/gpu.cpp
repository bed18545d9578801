#include "device/gpu.h"

namespace tutti {

std::string Gpu::text() const {
  return std::to_string(index) + ": " + name.value_or("GPU of unknown name") + (uuid ? ", " + *uuid : "");
}

}  // namespace tutti
