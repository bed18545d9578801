#include "audio/vad/energy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tutti {
namespace {

constexpr float kQuietest = 30;  // dB: background below it counts as this loud
constexpr float kOver = 9;       // dB over the background that are as likely speech as not
constexpr float kSoftness = 3;   // dB for which the odds grow e-fold
constexpr std::size_t kPerSecond = 31;
constexpr std::size_t kAround = 10;  // seconds to either side

/// The least of each second.
std::vector<float> quietest_of_seconds(std::span<const float> levels) {
  std::vector<float> quietest;
  for (std::size_t at = 0; at < levels.size(); at += kPerSecond) {
    const auto second = levels.subspan(at, std::min(kPerSecond, levels.size() - at));
    quietest.push_back(*std::min_element(second.begin(), second.end()));
  }
  return quietest;
}

}  // namespace

float loudness(std::span<const std::int16_t> window) {
  std::int64_t sum = 0, squares = 0;
  for (const std::int16_t sample : window) {
    sum += sample;
    squares += std::int64_t{sample} * sample;
  }
  const auto count = static_cast<double>(window.size());
  const double mean = static_cast<double>(sum) / count;
  return static_cast<float>(10 * std::log10(static_cast<double>(squares) / count - mean * mean + 1));
}

LoudnessOdds probabilities_of_loudness(std::span<const float> levels, std::size_t first, bool ended) {
  const std::vector<float> quietest = quietest_of_seconds(levels);
  const std::size_t whole = levels.size() / kPerSecond;  // seconds
  const std::size_t decided = ended ? levels.size() : (whole - std::min(whole, kAround)) * kPerSecond;
  LoudnessOdds odds;
  float background = kQuietest;
  for (std::size_t at = first; at < decided; ++at) {
    if (at == first || at % kPerSecond == 0) {
      const std::size_t second = at / kPerSecond;
      const auto from = quietest.begin() + static_cast<std::ptrdiff_t>(second - std::min(second, kAround));
      const auto to = quietest.begin() + static_cast<std::ptrdiff_t>(std::min(second + kAround + 1, quietest.size()));
      background = std::max(kQuietest, *std::min_element(from, to));
    }
    odds.probabilities.push_back(1 / (1 + std::exp((background + kOver - levels[at]) / kSoftness)));
  }
  const std::size_t seconds = std::max(first, decided) / kPerSecond;
  odds.no_longer_needed = (seconds - std::min(seconds, kAround)) * kPerSecond;
  return odds;
}

}  // namespace tutti
