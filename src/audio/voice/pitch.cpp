#include "audio/voice/pitch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "audio/lanes.h"
#include "audio/voice/level.h"

namespace tutti {
namespace {

/// Lags whose differences are summed together, in registers.
constexpr std::size_t kBlock = 96;

/// d(lag) = sum of squares of x[j] - x[j + lag], j below `window`, for kBlock lags from `first` on.
template <int lanes>
TUTTI_INLINE void differences_by(const float* x, std::size_t window, std::size_t first, float* difference) {
  constexpr std::size_t kRegisters = 6;
  for (std::size_t lag = first; lag < first + kBlock; lag += kRegisters * lanes) {
    V<lanes> sums[kRegisters] = {};
    for (std::size_t j = 0; j < window; ++j)
      for (std::size_t i = 0; i < kRegisters; ++i) {
        const V<lanes> step = x[j] - load<lanes>(x + j + lag + i * lanes);
        sums[i] += step * step;
      }
    for (std::size_t i = 0; i < kRegisters; ++i) store<lanes>(difference + lag + i * lanes, sums[i]);
  }
}

[[TUTTI_AVX512]] void differences_avx512(const float* x, std::size_t window, std::size_t first, float* difference) {
  differences_by<16>(x, window, first, difference);
}
[[TUTTI_AVX2]] void differences_avx2(const float* x, std::size_t window, std::size_t first, float* difference) {
  differences_by<8>(x, window, first, difference);
}
void differences_any(const float* x, std::size_t window, std::size_t first, float* difference) {
  differences_by<4>(x, window, first, difference);
}

const auto find_differences = runs_avx512() ? differences_avx512 : runs_avx2() ? differences_avx2 : differences_any;

/// The search for the period of one frame.
class PeriodSearch {
 public:
  /// Lags from `least` to below `most` are looked at.
  PeriodSearch(std::size_t least, std::size_t most, double threshold)
      : least_(least), most_(most), threshold_(threshold), difference_(lags_known()), sums_(lags_known()) {}

  /// Samples from a frame's first one on that are read.
  std::size_t samples_read() const { return most_ + lags_known(); }

  /// The period in samples; 0 for none. `x`: a frame's first sample; `window`: samples that are compared.
  double period(const float* x, std::size_t window) {
    known_ = 0;
    for (std::size_t lag = least_; lag + 1 < most_; ++lag) {
      find_until(lag + 1, x, window);
      if (difference_[lag] * static_cast<double>(lag) > threshold_ * sums_[lag] || sums_[lag] <= 0) continue;
      for (; lag + 2 < most_ && normalised(lag + 1) < normalised(lag); ++lag) find_until(lag + 2, x, window);
      return refined(lag);
    }
    return 0;
  }

 private:
  /// All lags, in whole blocks.
  std::size_t lags_known() const { return (most_ + kBlock - 1) / kBlock * kBlock; }

  /// Most voiced frames are decided within their first blocks.
  void find_until(std::size_t lag, const float* x, std::size_t window) {
    for (; known_ <= lag; known_ += kBlock) {
      find_differences(x, window, known_, difference_.data());
      double sum = known_ > 0 ? sums_[known_ - 1] : 0;
      for (std::size_t at = known_; at < known_ + kBlock; ++at) sums_[at] = sum += difference_[at];  // 0 at lag 0
    }
  }

  /// d'(lag): the difference over the mean of those up to it.
  double normalised(std::size_t lag) const { return difference_[lag] * static_cast<double>(lag) / sums_[lag]; }

  /// The lag between samples where the parabola through the differences at lag - 1, lag and lag + 1 is least.
  double refined(std::size_t lag) const {
    const double before = difference_[lag - 1], here = difference_[lag], behind = difference_[lag + 1];
    const double curve = before - 2 * here + behind;
    const double offset = curve > 0 ? 0.5 * (before - behind) / curve : 0;
    return static_cast<double>(lag) + std::clamp(offset, -1.0, 1.0);
  }

  std::size_t least_, most_;
  double threshold_;
  std::vector<float> difference_;  // by lag, up to known_
  std::vector<double> sums_;       // of the differences up to each lag
  std::size_t known_ = 0;
};

}  // namespace

std::vector<float> pitch_of(std::span<const float> samples, const PitchOptions& options) {
  const double rate = options.rate.value;
  const auto most = static_cast<std::size_t>(rate / options.lowest) + 1;
  const auto least = std::max<std::size_t>(static_cast<std::size_t>(rate / options.highest), 2);
  const std::size_t window = most, lags = most + 2, hop = static_cast<std::size_t>(options.hop);
  PeriodSearch search(least, lags, options.threshold);
  // Frame i is in the middle of its hop; where it reaches beyond the audio there are zeros.
  const std::size_t size = window + lags, lead = size / 2;
  std::vector<float> audio(lead + samples.size() + search.samples_read(), 0.0F);
  std::ranges::copy(samples, audio.begin() + static_cast<std::ptrdiff_t>(lead));
  std::vector<float> pitch(samples.size() / hop, 0.0F);
  for (std::size_t frame = 0; frame < pitch.size(); ++frame) {
    const std::size_t first = frame * hop + hop / 2;
    if (level_of(std::span(audio).subspan(first, size)) < options.least_level) continue;
    if (const double period = search.period(audio.data() + first, window); period > 0)
      pitch[frame] = static_cast<float>(rate / period);
  }
  return pitch;
}

}  // namespace tutti
