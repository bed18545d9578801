#include <immintrin.h>

#include "model/cpu/matrix/float_dots.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"
#include "model/cpu/matrix/words_by_bytes_avx2.h"

namespace tutti {
namespace {

/// A group is two int16. Without VNNI a product takes two instructions, as with AVX2, but of twice the width.
template <int rows, int panels>
struct WideWordDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  using Sums = __m512i;
  using Weights = __m512i;
  static Weights weights(const std::byte* from) { return _mm512_loadu_si512(from); }
  static __m512i row(std::int32_t bits) { return _mm512_set1_epi32(bits); }
  static void add(Sums& sums, const __m512i& x, const Weights& w) {
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(x, w));
    // g++ would multiply all before it adds, for which the registers do not last.
    asm("" : "+v"(sums));
  }
};

/// As WordByByteDot.
template <int rows, int panels>
struct WideWordByByteDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  using Sums = __m512i;
  struct Weights {
    __m512i of_part[2];
  };
  static Weights weights(const std::byte* from) {
    const auto bytes = _mm512_loadu_si512(from);
    return {{_mm512_srai_epi16(_mm512_slli_epi16(bytes, 8), 8), _mm512_srai_epi16(bytes, 8)}};
  }
  static __m512i row(std::int32_t bits) { return _mm512_set1_epi32(bits); }
  static void add(Sums& sums, const __m512i& x, const Weights& w, int row) {
    WideWordDot<rows, panels>::add(sums, x, w.of_part[row % 2]);
  }
};

}  // namespace

Kernels float32_kernels_avx512() {
  return float32_table<FloatDot<6, 4>>();
}

Kernels bfloat16_kernels_avx512() {
  return bfloat16_table<WideningDot<6, 2>>();
}

Kernels int8_kernels_avx512() {
  return with_rows_of_words<ByteDot<4, 1>, WideWordByByteDot<10, 2>>(int8_table<ByteDot<4, 1>>());
}

Kernels int16_kernels_avx512() {
  return int16_table<WideWordDot<12, 2>, WideWordDot<6, 4>>();
}

}  // namespace tutti
