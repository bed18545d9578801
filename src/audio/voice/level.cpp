#include "audio/voice/level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/random/counter_random.h"

namespace tutti {

SampleRange sounding_range(std::span<const float> samples, Hertz rate, double decibels) {
  constexpr Seconds kPart{0.02};
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(samples_in(kPart, rate), 1));
  std::vector<double> levels;
  for (std::size_t at = 0; at < samples.size(); at += size)
    levels.push_back(level_of(samples.subspan(at, std::min(size, samples.size() - at))));
  const SampleRange all{0, std::ssize(samples)};
  if (levels.size() < 2) return all;
  const double least = *std::ranges::max_element(levels) * std::pow(10, -decibels / 20);
  const auto is_loud = [&](double level) { return level >= least; };
  const auto first = std::ranges::find_if(levels, is_loud) - levels.begin();
  const auto last = std::ranges::find_if(levels.rbegin(), levels.rend(), is_loud).base() - levels.begin();
  const auto part = static_cast<std::int64_t>(size);
  return {first * part, std::min(last * part, all.end)};
}

double level_of(std::span<const float> samples) {
  std::array<double, 8> sums{};  // one sum would wait for itself
  std::size_t at = 0;
  for (; at + sums.size() <= samples.size(); at += sums.size())
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(samples[at + i]) * samples[at + i];
  for (; at < samples.size(); ++at) sums[0] += static_cast<double>(samples[at]) * samples[at];
  const double power = std::accumulate(sums.begin(), sums.end(), 0.0);
  return samples.empty() ? 0 : std::sqrt(power / static_cast<double>(samples.size()));
}

void bring_to_level(std::span<float> samples, double level) {
  constexpr double kMost = 0.99;  // highest peak, full scale being 1
  const double now = level_of(samples);
  if (now <= 0) return;
  double peak = 0;
  for (const float value : samples) peak = std::max<double>(peak, std::abs(value));
  const auto gain = static_cast<float>(std::min(level / now, kMost / peak));
  for (float& value : samples) value *= gain;
}

void fade_ends(std::span<float> samples, Hertz rate, Seconds length) {
  const auto count = std::min(static_cast<std::size_t>(samples_in(length, rate)), samples.size() / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const double phase = std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    const auto factor = static_cast<float>((1 - std::cos(phase)) / 2);
    samples[i] *= factor;
    samples[samples.size() - 1 - i] *= factor;
  }
}

void add_background_noise(std::span<float> samples, double deviation, std::uint64_t key) {
  // The sum of four even numbers is close to normal, and ten times as fast as one that is. Four bytes have the variance
  // 4 (256 * 256 - 1) / 12 around 510.
  const auto scale = static_cast<float>(deviation / std::sqrt((256.0 * 256.0 - 1) / 3));
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffU;
  for (std::size_t i = 0; i < samples.size(); i += 2) {
    const std::uint64_t bits = split_mixed(key + i * kSplitMixStep);
    const std::uint64_t pairs = (bits & kEven) + ((bits >> 8) & kEven);
    const std::uint64_t sums = pairs + (pairs >> 16);
    samples[i] += scale * static_cast<float>(static_cast<int>(sums & 0xffff) - 510);
    if (i + 1 < samples.size())
      samples[i + 1] += scale * static_cast<float>(static_cast<int>(sums >> 32 & 0xffff) - 510);
  }
}

}  // namespace tutti
