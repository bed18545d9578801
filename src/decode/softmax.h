#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// The largest value; minus infinity of none. Values that are not a number are passed over.
float largest(std::span<const float> row);

/// log(sum(exp(row))), exact to about 1e-7 relative; minus infinity where every value is. NaN where a value is.
double log_sum_exp(std::span<const float> row);
/// The same, for who knows the row's largest value already.
double log_sum_exp(std::span<const float> row, float largest);

/// The largest value of a row, the first index it has, and the largest of the others.
struct TopTwo {
  std::int32_t index = 0;
  float best = 0;
  float second = 0;
};

/// row: not empty.
TopTwo top_two(std::span<const float> row);

/// The indices of the `count` largest values, largest first, the first of equals before the others. Fewer where the
/// rest is minus infinity or not a number.
std::vector<std::int32_t> largest_positions(std::span<const float> row, std::size_t count);

/// softmax(row)[index].
float softmax_at(std::span<const float> row, std::int32_t index);

}  // namespace tutti
