#include "audio/vocoder/pulses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace tutti {
namespace {

/// The pitch of frames, and in those without one that of their neighbours, so that none begins with a glide.
std::vector<double> without_gaps(std::span<const float> pitch) {
  std::vector<double> filled(pitch.begin(), pitch.end());
  std::size_t last = pitch.size();  // frame with a pitch that was seen last
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (pitch[i] <= 0) continue;
    const auto from = last == pitch.size() ? 0 : last + 1;
    const double left = last == pitch.size() ? pitch[i] : pitch[last], right = pitch[i];
    for (std::size_t j = from; j < i; ++j)
      filled[j] = left + (right - left) * static_cast<double>(j + 1 - from) / static_cast<double>(i + 1 - from);
    last = i;
  }
  if (last < pitch.size())
    std::fill(filled.begin() + static_cast<std::ptrdiff_t>(last), filled.end(), static_cast<double>(pitch[last]));
  return filled;
}

/// cos(turn) + cos(2 turn) + ... + cos(count turn): Dirichlet's kernel.
double harmonics(double turn, double count) {
  constexpr double kLeast = 1e-6;
  const double half = std::sin(turn / 2);
  return std::abs(half) < kLeast ? count : (std::sin((count + 0.5) * turn) / half - 1) / 2;
}

}  // namespace

std::vector<float> pulses_of(std::span<const float> pitch, const PulseOptions& options) {
  const auto [rate, hop, phase] = options;
  constexpr double kHighest = 0.99;  // of half the rate: what is above folds back when the pitch rises
  std::vector<float> samples(pitch.size() * static_cast<std::size_t>(hop), 0.0F);
  if (std::ranges::none_of(pitch, [](float f) { return f > 0; })) return samples;
  const auto filled = without_gaps(pitch);
  const double last = static_cast<double>(pitch.size() - 1), half_rate = rate.value / 2.0;
  double turn = 2 * std::numbers::pi * phase;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) / hop - 0.5, 0.0, last);
    const auto left = static_cast<std::size_t>(at), right = std::min(left + 1, pitch.size() - 1);
    const double share = at - static_cast<double>(left);
    const double frequency = filled[left] + share * (filled[right] - filled[left]);
    const double strength = (pitch[left] > 0 ? 1 - share : 0) + (pitch[right] > 0 ? share : 0);
    turn = std::fmod(turn + 2 * std::numbers::pi * frequency / rate.value, 2 * std::numbers::pi);
    if (strength <= 0) continue;
    const double count = std::trunc(kHighest * half_rate / frequency);
    samples[i] = static_cast<float>(strength * std::sqrt(2 * frequency / half_rate) * harmonics(turn, count));
  }
  return samples;
}

}  // namespace tutti
