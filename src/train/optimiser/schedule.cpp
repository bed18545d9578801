#include "train/optimiser/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti {

std::int64_t TrainingLength::expected(std::int64_t steps, std::int64_t used) const {
  if (least == 0) return most;
  auto whole = least;
  if (used > 0) whole = std::max(whole, (steps * recordings + used - 1) / used);
  return most > 0 ? std::min(most, whole) : whole;
}

double RateSchedule::at(std::int64_t step) const {
  if (step <= warmup) return peak * static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, warmup));
  if (shape == Shape::constant || steps <= warmup) return peak;
  const double over = static_cast<double>(step - warmup - 1) / static_cast<double>(steps - warmup);
  const double progress = std::min(1.0, over);
  double share = 1 - progress;
  if (shape == Shape::cosine) {
    const double within = progress >= 1 ? 1 : std::fmod(progress * cycles, 1.0);
    share = 0.5 * (1 + std::cos(std::numbers::pi * within));
  }
  return peak * (final_share + (1 - final_share) * share);
}

}  // namespace tutti
