#include "model/cpu/matrix/float_dots.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"
#include "model/cpu/matrix/words_by_bytes_avx2.h"

namespace tutti {

// Without VNNI whole numbers are AVX2's, in 32 registers.
Kernels kernels_avx512(WeightPrecision precision) {
  const auto table = table_of<FloatDot<6, 4>, WideningDot<6, 2>, ByteDot<4, 1>, WordDot<6, 2>>(precision);
  return precision == WeightPrecision::int8 ? with_rows_of_words<ByteDot<4, 1>, WordByByteDot<6, 2>>(table) : table;
}

}  // namespace tutti
