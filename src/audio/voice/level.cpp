#include "audio/voice/level.h"

#include <algorithm>
#include <cmath>

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
  double power = 0;
  for (const float value : samples) power += static_cast<double>(value) * value;
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

void add_background_noise(std::span<float> samples, double deviation, std::uint64_t key) {
  CounterRandom random(key);
  for (float& value : samples) value += static_cast<float>(deviation * random.normal());
}

}  // namespace tutti
