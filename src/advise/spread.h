#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

/// How a set of times is spread; all 0 of none.
struct Spread {
  Seconds mean{};
  Seconds deviation{};  ///< standard, of these times themselves
  Seconds least{};
  Seconds most{};
  Seconds p50{};
  Seconds p95{};

  /// Standard deviation over mean; 0 where the mean is.
  double variation() const { return mean.count() > 0 ? deviation / mean : 0; }
};

/// The spread of all times alike, in any order. A percentile is one of them, the nearest in rank; halfway between two,
/// the larger. Pure.
Spread spread_of(std::vector<Seconds> times);

/// A time of more than so many medians is a stall.
inline constexpr double kStall = 10;

/// How many times are stalls, by the median `spread.p50`. Pure.
std::size_t stalls_in(std::span<const Seconds> times, const Spread& spread);

}  // namespace tutti
