#pragma once

#include <cstdint>

namespace tutti {

/// What is known of a training's length before it begins. Pure.
///
/// Limits on the audio of a batch and cutting into pieces make more steps of an epoch than full batches of whole
/// recordings would. How many more shows in what the steps so far have used: a number that is the same however often a
/// training was interrupted.
struct TrainingLength {
  std::int64_t least = 0;       // steps of all epochs if batches were full; 0: epochs have no end
  std::int64_t recordings = 0;  // of all epochs and processes
  std::int64_t most = 0;        // steps after which it ends whatever the epochs; 0: no such end

  /// Steps of the whole training, as `steps` of them that have used up so many recordings let expect; 0: not known.
  std::int64_t expected(std::int64_t steps, std::int64_t used) const;
};

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
