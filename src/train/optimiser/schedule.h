#pragma once

#include <cstdint>

namespace tutti {

/// How the learning rate moves. Pure; steps count from 1.
struct RateSchedule {
  enum class Shape { constant, linear, cosine };
  Shape shape = Shape::linear;
  double peak = 0;
  std::int64_t warmup = 0;  // steps until the peak
  std::int64_t steps = 0;   // of the whole training; 0: unknown, and the rate stays at the peak
  std::int32_t cycles = 1;  // of the cosine
  double final_share = 0;   // of the peak that is left at the end

  /// During warm-up peak * step / warmup; then with p, the share of the remaining steps that is over before this one:
  /// linear peak * (1 - p), cosine peak * (1 + cos(pi * (p * cycles mod 1))) / 2, above the final share.
  double at(std::int64_t step) const;
};

}  // namespace tutti
