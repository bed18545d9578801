#include "model/cpu/matrix/byte_dot_avx2.h"
#include "model/cpu/matrix/tile_kernel.h"

namespace tutti {

// Sixteen registers of half a panel: five sums of a panel at most.
Kernels kernels_avx2(Precision precision) {
  return table_of<FloatDot<4, 1>, WideningDot<4, 1>, ByteDot<3, 1>>(precision);
}

}  // namespace tutti
