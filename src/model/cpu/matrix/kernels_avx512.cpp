#include "model/cpu/matrix/float_dots.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"
#include "model/cpu/matrix/words_by_bytes_avx2.h"

namespace tutti {

Kernels float32_kernels_avx512() {
  return float32_table<FloatDot<6, 4>>();
}

Kernels bfloat16_kernels_avx512() {
  return bfloat16_table<WideningDot<6, 2>>();
}

// Without VNNI whole numbers are AVX2's, in 32 registers.

Kernels int8_kernels_avx512() {
  return with_rows_of_words<ByteDot<4, 1>, WordByByteDot<6, 2>>(int8_table<ByteDot<4, 1>>());
}

Kernels int16_kernels_avx512() {
  return int16_table<WordDot<6, 2>>();
}

}  // namespace tutti
