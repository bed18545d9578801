#include "decode/alignment/median_filter.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tutti {
namespace {

constexpr std::size_t kWidth = 7;
constexpr std::size_t kReach = kWidth / 2;
// Windows filtered side by side: short enough for the cache, and what makes the exchanges vector code.
constexpr std::size_t kColumns = 64;

using Columns = std::array<float, kColumns>;

/// After this, `low` holds the smaller of each pair.
void exchange(Columns& low, Columns& high) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    const float a = low[c];
    const float b = high[c];
    low[c] = a < b ? a : b;
    high[c] = a < b ? b : a;
  }
}

/// Bubbles the four largest of seven to the top; the smallest of those is the median.
void bubble(std::array<Columns, kWidth>& window) {
  for (std::size_t top = kWidth - 1; top >= kReach; --top) {
    for (std::size_t i = 0; i < top; ++i) exchange(window[i], window[i + 1]);
  }
}

std::vector<float> mirrored(std::span<const float> row) {
  std::vector<float> wide(row.size() + 2 * kReach + kColumns);  // the columns past the end are filtered and dropped
  for (std::size_t i = 0; i < kReach; ++i) {
    wide[i] = row[kReach - i];
    wide[kReach + row.size() + i] = row[row.size() - 2 - i];
  }
  std::ranges::copy(row, wide.begin() + kReach);
  return wide;
}

}  // namespace

std::vector<float> median_of_seven(std::span<const float> row) {
  if (row.size() <= kReach) return {row.begin(), row.end()};
  const auto wide = mirrored(row);
  std::vector<float> medians(row.size());
  std::array<Columns, kWidth> window;
  for (std::size_t first = 0; first < row.size(); first += kColumns) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      std::copy_n(wide.begin() + static_cast<std::ptrdiff_t>(first + i), kColumns, window[i].begin());
    }
    bubble(window);
    std::copy_n(window[kReach].begin(), std::min(kColumns, row.size() - first),
                medians.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return medians;
}

}  // namespace tutti
