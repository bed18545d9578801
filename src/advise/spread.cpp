#include "advise/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tutti {
Spread spread_of(std::vector<Seconds> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto count = static_cast<double>(times.size());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(std::lround(share * (count - 1)))]; };
  const Seconds mean = std::accumulate(times.begin(), times.end(), Seconds(0)) / count;
  double squares = 0;
  for (const Seconds time : times) squares += (time - mean).count() * (time - mean).count();
  return {.mean = mean,
          .deviation = Seconds(std::sqrt(squares / count)),
          .least = times.front(),
          .most = times.back(),
          .p50 = at(0.5),
          .p95 = at(0.95)};
}

std::size_t stalls_in(std::span<const Seconds> times, const Spread& spread) {
  const auto is_stall = [&](Seconds time) { return time > kStall * spread.p50; };
  return static_cast<std::size_t>(std::ranges::count_if(times, is_stall));
}

}  // namespace tutti
