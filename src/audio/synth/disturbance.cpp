#include "audio/synth/disturbance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random/counter_random.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kRate = kModelRate.value;
constexpr double kFlat = std::numbers::sqrt2 / 2;  // the Q of a Butterworth section

/// Sums of four even 16-bit numbers from each step of SplitMix64.
class NoiseSteps {
 public:
  explicit NoiseSteps(std::uint64_t key) : state_(key) {}
  /// Mean 0, deviation kDeviation.
  std::int32_t next() {
    const std::uint64_t z = finalised(state_ += kSplitMixStep);
    return static_cast<std::int32_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48)) - 2 * 65535;
  }
  static constexpr double kDeviation = 37837.2;  // sqrt(4 (2^32 - 1) / 12)

 private:
  std::uint64_t state_;
};

}  // namespace

// Bilinear sections as in R. Bristow-Johnson's "Cookbook formulae for audio EQ biquad filter coefficients".
Filter::Section Filter::low_pass(double hertz) {
  const double turn = 2 * std::numbers::pi * hertz / kRate, c = std::cos(turn), alpha = std::sin(turn) / (2 * kFlat);
  const auto part = [&](double value) { return static_cast<float>(value / (1 + alpha)); };
  return {part((1 - c) / 2), part(1 - c), part((1 - c) / 2), part(-2 * c), part(1 - alpha)};
}

Filter::Section Filter::high_pass(double hertz) {
  const double turn = 2 * std::numbers::pi * hertz / kRate, c = std::cos(turn), alpha = std::sin(turn) / (2 * kFlat);
  const auto part = [&](double value) { return static_cast<float>(value / (1 + alpha)); };
  return {part((1 + c) / 2), part(-(1 + c)), part((1 + c) / 2), part(-2 * c), part(1 - alpha)};
}

Filter Filter::between(double low, double high) {
  Filter filter;
  if (low > 0) filter.first_ = high_pass(low);
  filter.second_ = low_pass(high);
  return filter;
}

Filter Filter::speech_band() {
  return between(300, 3000);
}

Filter Filter::about(double centre, double width) {
  return between(std::max(centre - width / 2, 50.0), centre + width / 2);
}

void Filter::run(std::span<float> audio) {
  Section one = first_, two = second_;
  for (float& sample : audio) {
    const float x = sample;
    const float y = one.b0 * x + one.s1;
    one.s1 = one.b1 * x - one.a1 * y + one.s2;
    one.s2 = one.b2 * x - one.a2 * y;
    const float z = two.b0 * y + two.s1;
    two.s1 = two.b1 * y - two.a1 * z + two.s2;
    two.s2 = two.b2 * y - two.a2 * z;
    sample = z;
  }
  first_ = one;
  second_ = two;
}

void add_noise(std::span<float> audio, double deviation, std::uint64_t key) {
  NoiseSteps steps(key);
  const auto scale = static_cast<float>(deviation / NoiseSteps::kDeviation);
  for (float& sample : audio) sample += scale * static_cast<float>(steps.next());
}

void add_crashes(std::span<float> audio, double per_second, double deviation, CounterRandom& random) {
  if (per_second <= 0) return;
  const auto size = static_cast<double>(audio.size());
  for (double at = -std::log(1 - random.uniform()) / per_second * kRate; at < size;
       at -= std::log(1 - random.uniform()) / per_second * kRate) {
    NoiseSteps steps(random.bits64());
    const double length = random.uniform(0.02, 0.15) * kRate;
    auto gain = static_cast<float>(deviation * std::pow(10, random.uniform(6, 20) / 20) / NoiseSteps::kDeviation);
    const auto fall = static_cast<float>(std::exp(-5 / length));
    const auto end = static_cast<std::size_t>(std::min(at + length, size));
    for (auto i = static_cast<std::size_t>(at); i < end; ++i, gain *= fall)
      audio[i] += gain * static_cast<float>(steps.next());
  }
}

void add_clicks(std::span<float> audio, double per_second, double deviation, CounterRandom& random) {
  if (per_second <= 0) return;
  const auto size = static_cast<double>(audio.size());
  for (double at = 0;;) {
    at -= std::log(1 - random.uniform()) / per_second * kRate;
    if (at >= size) return;
    const double height = deviation * std::pow(10, random.uniform(0, 20) / 20);
    audio[static_cast<std::size_t>(at)] += static_cast<float>(random.chance(0.5) ? height : -height);
  }
}

void control_gain(std::span<float> audio, double target, double attack, double decay) {
  constexpr std::size_t kBlock = 16;  // a millisecond
  constexpr float kMostGain = 30;
  const auto rise = static_cast<float>(1 - std::exp(-0.001 / attack));
  const auto fall = static_cast<float>(1 - std::exp(-0.001 / decay));
  const auto wanted = static_cast<float>(target);
  float envelope = wanted, gain = 1;
  for (std::size_t at = 0; at < audio.size(); at += kBlock) {
    const auto block = audio.subspan(at, std::min(kBlock, audio.size() - at));
    float peak = 0;
    for (const float sample : block) peak = std::max(peak, std::abs(sample));
    envelope += (peak > envelope ? rise : fall) * (peak - envelope);
    const float next = std::min(wanted / std::max(envelope, 1e-6F), kMostGain);
    const float step = (next - gain) / static_cast<float>(block.size());
    for (float& sample : block) sample *= gain += step;
  }
}

}  // namespace tutti
