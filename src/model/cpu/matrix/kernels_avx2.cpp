#include "model/cpu/matrix/float_dots.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"
#include "model/cpu/matrix/words_by_bytes_avx2.h"

namespace tutti {

// Sixteen registers of half a panel: six rows' sums, a panel's weights and a row's number.
Kernels kernels_avx2(WeightPrecision precision) {
  const auto table = table_of<FloatDot<6, 1>, WideningDot<4, 1>, ByteDot<3, 1>, WordDot<4, 1>>(precision);
  return precision == WeightPrecision::int8 ? with_rows_of_words<ByteDot<3, 1>, WordByByteDot<6, 1>>(table) : table;
}

}  // namespace tutti
