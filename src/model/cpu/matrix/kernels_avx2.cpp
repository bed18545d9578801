#include "model/cpu/matrix/float_dots.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"
#include "model/cpu/matrix/words_by_bytes_avx2.h"

namespace tutti {

// Sixteen registers of half a panel: six rows' sums, a panel's weights and a row's number.

Kernels float32_kernels_avx2() {
  return float32_table<FloatDot<6, 1>>();
}

Kernels bfloat16_kernels_avx2() {
  return bfloat16_table<WideningDot<4, 1>>();
}

Kernels int8_kernels_avx2() {
  return with_rows_of_words<ByteDot<3, 1>, WordByByteDot<6, 1>>(int8_table<ByteDot<3, 1>>());
}

Kernels int16_kernels_avx2() {
  return int16_table<WordDot<4, 1>>();
}

}  // namespace tutti
