#include "decode/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

// A vocabulary is 50,000 logits a step and a sequence. Compiled for wider registers too; the loader picks by processor.
// ThreadSanitizer is not set up yet when the loader does: one width has to do there.
#ifdef __SANITIZE_THREAD__
#define TUTTI_FOR_EVERY_WIDTH
#else
#define TUTTI_FOR_EVERY_WIDTH __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#endif

namespace tutti {
namespace {

// Sums and maxima of this many columns side by side: loops short enough for the cache, too long to be unrolled, which
// is what the compiler turns into vector code. Each column adds up 200 values, so small ones do not vanish.
constexpr std::size_t kColumns = 256;
constexpr float kNever = -std::numeric_limits<float>::infinity();

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

/// columns[c]: the largest of row[c], row[c + kColumns], row[c + 2 kColumns], ...
TUTTI_FOR_EVERY_WIDTH void column_maxima(const float* row, std::size_t size, float* columns) {
  for (std::size_t c = 0; c < kColumns; ++c) columns[c] = kNever;
  std::size_t i = 0;
  for (; i + kColumns <= size; i += kColumns) {
    for (std::size_t c = 0; c < kColumns; ++c) columns[c] = row[i + c] > columns[c] ? row[i + c] : columns[c];
  }
  for (std::size_t c = 0; i + c < size; ++c) columns[c] = row[i + c] > columns[c] ? row[i + c] : columns[c];
}

using Columns = std::array<float, kColumns>;

Columns column_maxima(std::span<const float> row) {
  Columns columns;
  column_maxima(row.data(), row.size(), columns.data());
  return columns;
}

float largest_of(std::span<const float> columns) {
  float best = kNever;
  for (const float column : columns) best = column > best ? column : best;
  return best;
}

TUTTI_FOR_EVERY_WIDTH double sum_of_exp(const float* row, std::size_t size, float largest, float scale) {
  float columns[kColumns] = {};
  float x[kColumns];
  std::size_t i = 0;
  for (; i + kColumns <= size; i += kColumns) {
    // Two loops: in one, the compiler splits off the clamped case as a branch, and nothing is vector code any more.
    for (std::size_t c = 0; c < kColumns; ++c) x[c] = above_underflow((row[i + c] - largest) * scale);
    for (std::size_t c = 0; c < kColumns; ++c) columns[c] += fast_exp(x[c]);
  }
  double total = 0;
  for (; i < size; ++i) total += static_cast<double>(fast_exp(above_underflow((row[i] - largest) * scale)));
  for (const float column : columns) total += static_cast<double>(column);
  return total;
}

}  // namespace

double sum_of_exponentials(std::span<const float> row, float largest, float scale) {
  return sum_of_exp(row.data(), row.size(), largest, scale);
}

float largest(std::span<const float> row) {
  return largest_of(column_maxima(row));
}

double log_sum_exp(std::span<const float> row, float largest) {
  if (largest == kNever) return std::isnan(row.empty() ? 0.0F : row[0]) ? row[0] : kNever;
  return largest + std::log(sum_of_exp(row.data(), row.size(), largest, 1.0F));
}

double log_sum_exp(std::span<const float> row) {
  return log_sum_exp(row, largest(row));
}

TopTwo top_two(std::span<const float> row) {
  const auto columns = column_maxima(row);
  TopTwo top{.best = largest_of(columns), .second = kNever};
  std::size_t index = row.size();
  std::size_t equals = 0;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (columns[c] < top.best) {
      top.second = std::max(top.second, columns[c]);
      continue;
    }
    for (std::size_t i = c; i < row.size(); i += kColumns) {
      if (row[i] < top.best) {
        top.second = std::max(top.second, row[i]);
      } else if (row[i] == top.best) {
        ++equals;
        index = std::min(index, i);
      }
    }
  }
  if (equals > 1) top.second = top.best;
  top.index = static_cast<std::int32_t>(index == row.size() ? 0 : index);
  return top;
}

std::vector<std::int32_t> largest_places(std::span<const float> row, std::size_t count) {
  // The largest values stand in the columns with the largest maxima: only those few are searched value by value.
  const auto columns = column_maxima(row);
  auto sorted = columns;
  const auto last = std::clamp<std::size_t>(count, 1, kColumns) - 1;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(last), std::ranges::greater{});
  const float least = count > kColumns ? kNever : sorted[last];
  std::vector<std::int32_t> places;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (columns[c] < least) continue;
    for (std::size_t i = c; i < row.size(); i += kColumns) {
      if (row[i] > kNever && row[i] >= least) places.push_back(static_cast<std::int32_t>(i));
    }
  }
  const auto value = [&](std::int32_t place) { return row[static_cast<std::size_t>(place)]; };
  std::ranges::sort(places, [&](auto a, auto b) { return value(a) > value(b) || (value(a) == value(b) && a < b); });
  places.resize(std::min(count, places.size()));
  return places;
}

float softmax_at(std::span<const float> row, std::int32_t index) {
  return static_cast<float>(std::exp(row[static_cast<std::size_t>(index)] - log_sum_exp(row)));
}

}  // namespace tutti
