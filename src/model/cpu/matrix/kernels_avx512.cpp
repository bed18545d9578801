#include "model/cpu/matrix/byte_dot_avx2.h"
#include "model/cpu/matrix/tile_kernel.h"

namespace tutti {

// Without VNNI, int8 is AVX2's, in 32 registers.
Kernels kernels_avx512(Precision precision) {
  return table_of<FloatDot<6, 4>, WideningDot<6, 2>, ByteDot<4, 1>>(precision);
}

}  // namespace tutti
