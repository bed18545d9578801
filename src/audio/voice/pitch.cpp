#include "audio/voice/pitch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tutti {
namespace {

/// What one frame is worked on in.
struct Work {
  std::vector<float> part;        // the window and the longest period behind it
  std::vector<float> difference;  // by lag
  std::vector<float> normalised;
};

/// d(lag) = sum of squares of x[j] - x[j + lag] over the window, and d'(lag).
void find_differences(Work& work, std::size_t window, std::size_t lags) {
  std::ranges::fill(work.difference, 0.0F);
  for (std::size_t j = 0; j < window; ++j) {
    const float here = work.part[j];
    const float* later = work.part.data() + j;
    for (std::size_t lag = 0; lag < lags; ++lag) {
      const float step = here - later[lag];
      work.difference[lag] += step * step;
    }
  }
  double sum = 0;
  work.normalised[0] = 1;
  for (std::size_t lag = 1; lag < lags; ++lag) {
    sum += work.difference[lag];
    work.normalised[lag] = sum > 0 ? static_cast<float>(work.difference[lag] * static_cast<double>(lag) / sum) : 1.0F;
  }
}

/// The lag between samples where the parabola through `values` at lag - 1, lag and lag + 1 is least.
double refined(const std::vector<float>& values, std::size_t lag) {
  const double before = values[lag - 1], here = values[lag], behind = values[lag + 1];
  const double curve = before - 2 * here + behind;
  const double offset = curve > 0 ? 0.5 * (before - behind) / curve : 0;
  return static_cast<double>(lag) + std::clamp(offset, -1.0, 1.0);
}

}  // namespace

std::vector<float> pitch_of(std::span<const float> samples, const PitchOptions& options) {
  const double rate = options.rate.value;
  const auto most = static_cast<std::size_t>(rate / options.lowest) + 1;
  const auto least = std::max<std::size_t>(static_cast<std::size_t>(rate / options.highest), 2);
  const std::size_t window = most, lags = most + 2;
  Work work{std::vector<float>(window + lags), std::vector<float>(lags), std::vector<float>(lags)};
  std::vector<float> pitch(samples.size() / static_cast<std::size_t>(options.hop), 0.0F);
  for (std::size_t frame = 0; frame < pitch.size(); ++frame) {
    const auto middle = static_cast<std::int64_t>(frame) * options.hop + options.hop / 2;
    const std::int64_t first = middle - std::ssize(work.part) / 2;
    double power = 0;
    for (std::size_t i = 0; i < work.part.size(); ++i) {
      const std::int64_t at = first + static_cast<std::int64_t>(i);
      work.part[i] = at >= 0 && at < std::ssize(samples) ? samples[static_cast<std::size_t>(at)] : 0.0F;
      power += static_cast<double>(work.part[i]) * work.part[i];
    }
    if (std::sqrt(power / static_cast<double>(work.part.size())) < options.least_level) continue;
    find_differences(work, window, lags);
    for (std::size_t lag = least; lag + 1 < lags; ++lag) {
      if (work.normalised[lag] > options.threshold) continue;
      while (lag + 2 < lags && work.normalised[lag + 1] < work.normalised[lag]) ++lag;
      pitch[frame] = static_cast<float>(rate / refined(work.difference, lag));
      break;
    }
  }
  return pitch;
}

}  // namespace tutti
