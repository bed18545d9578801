#include <immintrin.h>

#include "model/cpu/matrix/tile_kernel.h"

namespace tutti {
namespace {

/// A group is two bfloat16.
struct Bfloat16Dot {
  static constexpr int kRows = 6;
  static constexpr int kPanels = 4;
  using Sums = __m512;
  using Weights = __m512i;
  static Weights weights(const std::byte* from) { return _mm512_loadu_si512(from); }
  static __m512i row(std::int32_t bits) { return _mm512_set1_epi32(bits); }
  static void add(Sums& sums, const __m512i& x, const Weights& w) {
    sums = _mm512_dpbf16_ps(sums, bits_as<__m512bh>(x), bits_as<__m512bh>(w));
  }
};

}  // namespace

Kernels bfloat16_kernels_bf16() {
  return bfloat16_table<Bfloat16Dot>();
}

}  // namespace tutti
