#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"

namespace tutti {

// Sixteen registers of half a panel: six rows' sums, a panel's weights and a row's number.
Kernels kernels_avx2(Precision precision) {
  return table_of<FloatDot<6, 1>, WideningDot<4, 1>, ByteDot<3, 1>, WordDot<4, 1>>(precision);
}

}  // namespace tutti
