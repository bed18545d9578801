#include "train/report/loader_times.h"

#include <algorithm>
#include <numeric>

#include "base/environment.h"
#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr Seconds kSlow{0.030};   // of a mean
constexpr Seconds kSpike{0.050};  // of one wait
constexpr double kManySpikes = 0.05;

std::string ms(Seconds time) {
  return fixed_text(1000 * time.count(), 1) + "ms";
}

}  // namespace

std::string LoaderTimes::line() const {
  if (waits_.empty()) return {};
  auto sorted = waits_;
  std::ranges::sort(sorted);
  const auto steps = static_cast<double>(sorted.size());
  const Seconds mean = std::accumulate(sorted.begin(), sorted.end(), Seconds(0)) / steps;
  const auto spikes = sorted.end() - std::ranges::upper_bound(sorted, kSpike);
  std::string line = "[TRAIN PROFILE] DataLoader avg: " + ms(mean) + ", max: " + ms(sorted.back()) +
                     ", median: " + ms(sorted[sorted.size() / 2]) + ", min: " + ms(sorted.front()) +
                     "; above 50 ms: " + std::to_string(spikes) + " of " + std::to_string(sorted.size());
  if (spikes > 0) line += ", every " + fixed_text(steps / static_cast<double>(spikes), 0) + " steps";
  if (mean > kSlow) line += "; slow: the mean is above 30 ms";
  if (static_cast<double>(spikes) > kManySpikes * steps) line += "; uneven: more than 5 % of the steps waited long";
  return line;
}

bool wants_loader_times() {
  const auto level = variable("TRAINER_LOG_LEVEL");
  return level && (*level == "DEBUG" || *level == "debug");
}

}  // namespace tutti
