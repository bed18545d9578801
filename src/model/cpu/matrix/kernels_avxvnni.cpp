#include <immintrin.h>

#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"

namespace tutti {
namespace {

/// A group is four bytes, of weights signed, of a row unsigned. Sixteen registers of half a panel: six rows' sums, a
/// panel's weights and a row's number.
struct HalfVnniDot {
  static constexpr int kRows = 6;
  static constexpr int kPanels = 1;
  struct Sums {
    __m256i half[2];
  };
  using Weights = Sums;
  static Weights weights(const std::byte* from) {
    const auto* halves = reinterpret_cast<const __m256i*>(from);
    return {{_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)}};
  }
  static __m256i row(std::int32_t bits) { return _mm256_set1_epi32(bits); }
  static void add(Sums& sums, const __m256i& x, const Weights& w) {
    for (int i = 0; i < 2; ++i) sums.half[i] = _mm256_dpbusd_avx_epi32(sums.half[i], x, w.half[i]);
  }
};

}  // namespace

Kernels int8_kernels_avxvnni() {
  return int8_table<HalfVnniDot>();
}

Kernels int16_kernels_avxvnni() {
  return int16_table<WordDot<6, 1>>();
}

}  // namespace tutti
