#include "worker/window_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr double kTokens = 100;  // of a window of speech
constexpr double kStepsOfWindow = kTokens / kTimedTogether;
constexpr Seconds kBudget{0.5};  // calls that are short are repeated for so long

/// The shortest of at least `least` calls, the first one, which warms up, not counted.
Seconds fastest(const std::function<void()>& call, int least, const Clock& clock) {
  Seconds best{std::numeric_limits<double>::infinity()};
  const auto first = clock.now();
  auto begun = first;
  for (int i = 0; i <= least || begun - first < kBudget; ++i) {
    call();
    const auto ended = clock.now();
    if (i > 0) best = std::min(best, Seconds(ended - begun));
    begun = ended;
  }
  return best;
}

}  // namespace

Seconds window_time(const std::function<void()>& encode, const std::function<void()>& step, const Clock& clock) {
  constexpr int kEncodings = 2;
  const auto encoding = fastest(encode, kEncodings, clock);
  return encoding + kStepsOfWindow * fastest(step, static_cast<int>(std::ceil(kStepsOfWindow)), clock);
}

}  // namespace tutti
