#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"

namespace tutti {

// Without VNNI whole numbers are AVX2's, in 32 registers.
Kernels kernels_avx512(Precision precision) {
  return table_of<FloatDot<6, 4>, WideningDot<6, 2>, ByteDot<4, 1>, WordDot<6, 2>>(precision);
}

}  // namespace tutti
