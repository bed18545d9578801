#include "decode/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/cpu/row/long_row.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

float largest(std::span<const float> row) {
  return largest_of(column_maxima(row));
}

double log_sum_exp(std::span<const float> row, float largest) {
  if (largest == kNever) return std::isnan(row.empty() ? 0.0F : row[0]) ? row[0] : kNever;
  return largest + std::log(sum_of_exponentials(row, largest, 1.0F));
}

double log_sum_exp(std::span<const float> row) {
  return log_sum_exp(row, largest(row));
}

TopTwo top_two(std::span<const float> row) {
  const auto columns = column_maxima(row);
  TopTwo top{.best = largest_of(columns), .second = kNever};
  std::size_t index = row.size();
  std::size_t equals = 0;
  for (std::size_t c = 0; c < kRowColumns; ++c) {
    if (columns[c] < top.best) {
      top.second = std::max(top.second, columns[c]);
      continue;
    }
    for (std::size_t i = c; i < row.size(); i += kRowColumns) {
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

std::vector<std::int32_t> largest_positions(std::span<const float> row, std::size_t count) {
  // The largest values are in the columns with the largest maxima: only those few are searched value by value.
  const auto columns = column_maxima(row);
  auto sorted = columns;
  const auto last = std::clamp<std::size_t>(count, 1, kRowColumns) - 1;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(last), std::ranges::greater{});
  auto places = positions_from(row, columns, count > kRowColumns ? kNever : sorted[last]);
  const auto value = [&](std::int32_t place) { return row[static_cast<std::size_t>(place)]; };
  std::ranges::sort(places, [&](auto a, auto b) { return value(a) > value(b) || (value(a) == value(b) && a < b); });
  places.resize(std::min(count, places.size()));
  return places;
}

float softmax_at(std::span<const float> row, std::int32_t index) {
  return static_cast<float>(std::exp(row[static_cast<std::size_t>(index)] - log_sum_exp(row)));
}

}  // namespace tutti
