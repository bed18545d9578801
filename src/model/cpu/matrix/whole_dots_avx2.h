#pragma once

#include <immintrin.h>

#include "model/cpu/lanes.h"

namespace tutti {
namespace {

/// A group is four int8, multiplied two and two as int16: AVX2's own product of bytes would overflow.
template <int rows, int panels>
struct ByteDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  struct Half {
    __m256i even;  // inputs 0 and 2 of eight outputs
    __m256i odd;   // inputs 1 and 3
  };
  struct Sums {
    __m256i half[2];
  };
  struct Weights {
    Half half[2];
  };
  using Row = Half;
  static Weights weights(const std::byte* from) {
    Weights w;
    for (int i = 0; i < 2; ++i) {
      const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * 32));
      w.half[i] = {_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8), _mm256_srai_epi16(bytes, 8)};
    }
    return w;
  }
  static Row row(std::int32_t bits) {
    const auto lower = _mm256_set1_epi32(0x00ff00ff);
    auto bytes = _mm256_set1_epi32(bits);
    // g++ would part the bits before it spreads them: two slow ways from an ordinary register instead of one load.
    asm("" : "+v"(bytes));
    return {_mm256_and_si256(bytes, lower), _mm256_srli_epi16(bytes, 8)};
  }
  static void add(Sums& sums, const Row& x, const Weights& w) {
    for (int i = 0; i < 2; ++i) {
      const auto even = _mm256_madd_epi16(x.even, w.half[i].even);
      const auto odd = _mm256_madd_epi16(x.odd, w.half[i].odd);
      sums.half[i] = _mm256_add_epi32(sums.half[i], _mm256_add_epi32(even, odd));
    }
  }
};

/// Eight sums, each with the products of two int16 more: one instruction with AVX-VNNI, two with AVX2.
inline __m256i with_words(__m256i sums, __m256i a, __m256i b) {
#ifdef __AVXVNNI__
  return _mm256_dpwssd_avx_epi32(sums, a, b);
#else
  sums = _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
  // g++ would multiply all before it adds, for which the registers do not last.
  asm("" : "+v"(sums));
  return sums;
#endif
}

/// A group is two int16, whose products are added as int32 by one instruction: thirty-two products in the time of
/// sixteen of float32.
template <int rows, int panels>
struct WordDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
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
    for (int i = 0; i < 2; ++i) sums.half[i] = with_words(sums.half[i], x, w.half[i]);
  }
};

}  // namespace
}  // namespace tutti
