#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti {

// Values by rank without a full sort: linear time in the mean. Precondition of both: at least one value. Thread-safe.

/// The value at rank share * (n - 1) of n, rounded down and counted from 0, not interpolated: share 0 is the minimum,
/// 1 the maximum. `share`: 0 to 1. Reorders `values`.
template <class T>
T quantile(std::vector<T>& values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

/// The value at rank n / 2, rounded down: of an even number of values the upper one of the two in the middle, as
/// pitches and errors use it. Pure.
template <class T>
T median_of(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace tutti
