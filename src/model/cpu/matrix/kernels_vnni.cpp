#include <immintrin.h>

#include "model/cpu/matrix/tile_kernel.h"

namespace tutti {
namespace {

/// A group is a register of sixteen outputs'. The sums of a block, and what is multiplied, fill 32 registers.
template <int rows, int panels>
struct RegisterDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  static constexpr bool kReadsAhead = true;
  using Sums = __m512i;
  using Weights = __m512i;
  static Weights weights(const std::byte* from) { return _mm512_loadu_si512(from); }
  static __m512i row(std::int32_t bits) { return _mm512_set1_epi32(bits); }
};

/// A group is four bytes, of weights signed, of a row unsigned.
template <int rows, int panels>
struct VnniByteDot : RegisterDot<rows, panels> {
  static void add(__m512i& sums, const __m512i& x, const __m512i& w) { sums = _mm512_dpbusd_epi32(sums, x, w); }
};

/// A group is two int16.
template <int rows, int panels>
struct VnniWordDot : RegisterDot<rows, panels> {
  static void add(__m512i& sums, const __m512i& x, const __m512i& w) { sums = _mm512_dpwssd_epi32(sums, x, w); }
};

}  // namespace

// Whole blocks read two panels, half as many bytes a product as four panels of six rows: weights come from the second
// cache.

Kernels int8_kernels_vnni() {
  return int8_table<VnniByteDot<12, 2>, VnniByteDot<6, 4>>();
}

Kernels int16_kernels_vnni() {
  return int16_table<VnniWordDot<12, 2>, VnniWordDot<6, 4>>();
}

}  // namespace tutti
