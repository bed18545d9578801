#include "audio/voice/loudness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace tutti {
namespace {

/// A filter of second order, in float64.
struct Biquad {
  std::array<double, 3> above{};  // b0, b1, b2
  std::array<double, 2> below{};  // a1, a2
  std::array<double, 2> state{};

  double next(double sample) {
    const double out = above[0] * sample + state[0];
    state[0] = above[1] * sample - below[0] * out + state[1];
    state[1] = above[2] * sample - below[1] * out;
    return out;
  }
};

/// The shelf of the first stage: the effect of a head.
Biquad head_filter(double rate) {
  constexpr double kFrequency = 1681.974450955533, kGain = 3.999843853973347, kQuality = 0.7071752369554196;
  const double k = std::tan(std::numbers::pi * kFrequency / rate);
  const double high = std::pow(10.0, kGain / 20), band = std::pow(high, 0.4996667741545416);
  const double a0 = 1 + k / kQuality + k * k;
  return {
      {(high + band * k / kQuality + k * k) / a0, 2 * (k * k - high) / a0, (high - band * k / kQuality + k * k) / a0},
      {2 * (k * k - 1) / a0, (1 - k / kQuality + k * k) / a0}};
}

/// The high pass of the second stage.
Biquad low_cut(double rate) {
  constexpr double kFrequency = 38.13547087602444, kQuality = 0.5003270373238773;
  const double k = std::tan(std::numbers::pi * kFrequency / rate);
  const double a0 = 1 + k / kQuality + k * k;
  return {{1, -2, 1}, {2 * (k * k - 1) / a0, (1 - k / kQuality + k * k) / a0}};
}

double loudness_of(double power) {
  constexpr double kOffset = -0.691;  // of the standard: what K-weighting adds at 997 Hz
  return kOffset + 10 * std::log10(power);
}

/// The mean power of each block, K-weighted.
std::vector<double> block_powers(std::span<const float> samples, Hertz rate) {
  constexpr double kBlock = 0.4, kOverlap = 4;
  const auto step = static_cast<std::size_t>(std::lround(rate.value * kBlock / kOverlap));
  const auto size = step * static_cast<std::size_t>(kOverlap);
  auto head = head_filter(rate.value), cut = low_cut(rate.value);
  std::vector<double> sums{0};  // the squares of all samples before each step
  double sum = 0;
  std::size_t taken = 0;
  for (const float sample : samples) {
    const double weighted = cut.next(head.next(sample));
    sum += weighted * weighted;
    if (++taken % step == 0) sums.push_back(sum);
  }
  if (samples.empty() || step == 0) return {};
  if (samples.size() < size) return {sum / static_cast<double>(samples.size())};
  std::vector<double> powers;
  constexpr std::size_t kSteps = 4;
  for (std::size_t at = 0; at + kSteps < sums.size(); ++at)
    powers.push_back((sums[at + kSteps] - sums[at]) / static_cast<double>(size));
  return powers;
}

/// The mean of the powers whose loudness is above `gate`; none where there are none.
std::optional<double> mean_above(std::span<const double> powers, double gate) {
  double sum = 0;
  std::size_t count = 0;
  for (const double power : powers) {
    if (power <= 0 || loudness_of(power) <= gate) continue;
    sum += power;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace

std::optional<double> integrated_loudness(std::span<const float> samples, Hertz rate) {
  constexpr double kSilence = -70, kRelative = -10;
  const auto powers = block_powers(samples, rate);
  const auto loud = mean_above(powers, kSilence);
  if (!loud) return std::nullopt;
  const auto mean = mean_above(powers, std::max(kSilence, loudness_of(*loud) + kRelative));
  return mean ? std::optional(loudness_of(*mean)) : std::nullopt;
}

void SentenceLevel::apply(std::span<float> samples) {
  constexpr double kMostOff = 3, kMostLouder = 0.5, kMostPeak = 0.99;
  const auto loudness = integrated_loudness(samples, rate_);
  if (!loudness) return;
  double gain = loudness_ - *loudness;
  const double seconds = length_of(std::ssize(samples), rate_).count();
  const double wanted = gain;
  // Behind "Hush!", which is soft, a sentence must not be as much too loud as that was soft.
  if (seconds_ > 0)
    gain = std::min(std::clamp(gain, gains_ / seconds_ - kMostOff, gains_ / seconds_ + kMostOff), wanted + kMostLouder);
  gains_ += wanted * seconds;
  seconds_ += seconds;
  double peak = 0;
  for (const float sample : samples) peak = std::max<double>(peak, std::abs(sample));
  const auto factor = static_cast<float>(std::min(std::pow(10.0, gain / 20), kMostPeak / peak));
  for (float& sample : samples) sample *= factor;
}

}  // namespace tutti
