#pragma once

#include <cuda_fp16.h>

#include "model/decoder_step/numbers.h"

namespace tutti {

TUTTI_BOTH inline float widened(Half value) {
  __half_raw raw;
  raw.x = value.bits;
  return __half2float(__half(raw));
}

template <>
TUTTI_BOTH inline Half narrowed<Half>(float value) {
  return {static_cast<__half_raw>(__float2half_rn(value)).x};
}

}  // namespace tutti
