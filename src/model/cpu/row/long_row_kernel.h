#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/cpu/row/long_row_job.h"

// Plain loops for the compiler to turn into vector code, of every instruction set's width. Internal linkage: the linker
// must not take one file's instructions for another's.
namespace tutti {
namespace {

/// Below this, exp is zero beside 1 even 50,000 times over. Not a number stays so.
__attribute__((always_inline)) inline float above_underflow(float x) {
  return x < -87.0F ? -87.0F : x;
}

/// exp(x) for -87 <= x <= 0 within 2 ulp, by Cody and Waite's reduction and a minimax polynomial of degree 7 (Cephes,
/// expf). Branch-free, so that loops over it become vector code; std::exp would not.
__attribute__((always_inline)) inline float fast_exp(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const float shifted = x * 1.44269504F + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto exponent = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound) + 127U;
  return p * std::bit_cast<float>(exponent << 23U);
}

void find_maxima(const float* row, std::size_t size, float* columns) {
  for (std::size_t c = 0; c < kRowColumns; ++c) columns[c] = -std::numeric_limits<float>::infinity();
  std::size_t i = 0;
  for (; i + kRowColumns <= size; i += kRowColumns) {
    for (std::size_t c = 0; c < kRowColumns; ++c) columns[c] = row[i + c] > columns[c] ? row[i + c] : columns[c];
  }
  for (std::size_t c = 0; i + c < size; ++c) columns[c] = row[i + c] > columns[c] ? row[i + c] : columns[c];
}

/// Each column adds up 200 values, so small ones do not vanish.
double add_exponentials(const float* row, std::size_t size, float largest, float scale) {
  float columns[kRowColumns] = {};
  float x[kRowColumns];
  std::size_t i = 0;
  for (; i + kRowColumns <= size; i += kRowColumns) {
    // Two loops: in one, the compiler splits off the clamped case as a branch, and nothing is vector code any more.
    for (std::size_t c = 0; c < kRowColumns; ++c) x[c] = above_underflow((row[i + c] - largest) * scale);
    for (std::size_t c = 0; c < kRowColumns; ++c) columns[c] += fast_exp(x[c]);
  }
  double total = 0;
  for (; i < size; ++i) total += static_cast<double>(fast_exp(above_underflow((row[i] - largest) * scale)));
  for (const float column : columns) total += static_cast<double>(column);
  return total;
}

}  // namespace
}  // namespace tutti
