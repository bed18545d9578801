#include "feed/ring/ring_depth.h"

#include <algorithm>

namespace tutti {

RingForecast simulate_ring(std::span<const Seconds> reads, std::span<const Seconds> steps, int depth) {
  const auto slots = static_cast<std::size_t>(std::max(depth, 1));
  std::vector<Seconds> free_at(slots);  // when each slot's last step ends
  Seconds put{}, done{}, busy{};
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Seconds step = steps[std::min(i, steps.size() - 1)];
    put = std::max(put + reads[i], free_at[i % slots]);
    done = std::max(done, put) + step;
    free_at[i % slots] = done;
    busy += step;
  }
  return {done.count() > 0 ? busy / done : 0, done};
}

void RingTuner::note(Seconds read, Seconds step) {
  reads_.push_back(read);
  steps_.push_back(step);
  if (reads_.size() <= kRemembered) return;
  reads_.pop_front();
  steps_.pop_front();
}

int RingTuner::advised(int least) const {
  constexpr std::size_t kEnough = 64;
  constexpr double kAsGood = 0.01;
  if (reads_.size() < kEnough) return std::min(least, most_depth_);
  const std::vector<Seconds> reads(reads_.begin(), reads_.end()), steps(steps_.begin(), steps_.end());
  const double best = simulate_ring(reads, steps, most_depth_).utilisation;
  int depth = std::min(least, most_depth_);
  while (depth < most_depth_ && simulate_ring(reads, steps, depth).utilisation < best - kAsGood) ++depth;
  return depth;
}

}  // namespace tutti
