#include "audio/tone_phase.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti {

std::vector<double> between(const std::vector<double>& values, double first, double apart, std::size_t size) {
  std::vector<double> out(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double at = std::clamp((static_cast<double>(i) - first) / apart, 0.0, static_cast<double>(values.size() - 1));
    const auto left = std::min(static_cast<std::size_t>(at), values.size() - 1);
    const auto right = std::min(left + 1, values.size() - 1);
    out[i] = values[left] + (at - static_cast<double>(left)) * (values[right] - values[left]);
  }
  return out;
}

std::vector<ToneSample> low_passed(const std::vector<ToneSample>& base, double width, double rate) {
  const double to_half = std::sqrt(2 * std::numbers::ln2);
  const double deviation = rate / (2 * std::numbers::pi * width / to_half);
  const auto reach = static_cast<std::size_t>(std::ceil(4 * deviation));
  std::vector<float> taps(2 * reach + 1);
  double sum = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double away = (static_cast<double>(i) - static_cast<double>(reach)) / deviation;
    taps[i] = static_cast<float>(std::exp(-0.5 * away * away));
    sum += taps[i];
  }
  const auto scale = static_cast<float>(1 / sum);
  std::vector<float> padded(base.size() + 2 * reach), filtered(base.size());
  std::vector<ToneSample> out(base.size());
  for (const bool is_real : {true, false}) {
    for (std::size_t i = 0; i < base.size(); ++i) padded[i + reach] = is_real ? base[i].real() : base[i].imag();
    std::ranges::fill(filtered, 0.0F);
    // Tap by tap: many sums at once, which the compiler computes together.
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      const float weight = taps[tap] * scale;
      const float* const from = padded.data() + tap;
      float* const to = filtered.data();
      for (std::size_t i = 0; i < base.size(); ++i) to[i] += weight * from[i];
    }
    for (std::size_t i = 0; i < base.size(); ++i) is_real ? out[i].real(filtered[i]) : out[i].imag(filtered[i]);
  }
  return out;
}

std::vector<ToneSample> in_phase(const std::vector<ToneSample>& base) {
  constexpr std::size_t kCarrierStep = 20, kLag = 2;  // 10 ms, and such steps in which a phase moves
  constexpr double kCarrierRate = kToneRate / kCarrierStep;
  constexpr double kFirstWidth = 3, kTurnWidth = 0.5, kWidth = 1.5;  // Hz
  std::vector<ToneSample> slow((base.size() + kCarrierStep - 1) / kCarrierStep);
  for (std::size_t i = 0; i < base.size(); ++i) slow[i / kCarrierStep] += base[i] * (1.0F / kCarrierStep);
  // What the path of half-second spectra leaves of the frequency, within 2 Hz.
  const auto carrier = low_passed(slow, kFirstWidth, kCarrierRate);
  std::vector<ToneSample> moved(slow.size());
  for (std::size_t i = kLag; i < slow.size(); ++i) moved[i] = carrier[i] * std::conj(carrier[i - kLag]);
  moved = low_passed(moved, kTurnWidth, kCarrierRate);
  std::vector<double> phases(slow.size());
  double phase = 0;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    phase += std::arg(moved[i]) / static_cast<double>(kLag);
    phases[i] = phase;
    slow[i] *= std::polar(1.0F, static_cast<float>(-phase));
  }
  const auto still = low_passed(slow, kWidth, kCarrierRate);
  double before = 0;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    double rest = std::arg(still[i]);
    rest += 2 * std::numbers::pi * std::round((before - rest) / (2 * std::numbers::pi));  // no jump by whole turns
    before = rest;
    phases[i] += rest;
  }
  const auto smooth = between(phases, kCarrierStep / 2.0, kCarrierStep, base.size());
  std::vector<ToneSample> turned(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) turned[i] = base[i] * std::polar(1.0F, static_cast<float>(-smooth[i]));
  return turned;
}

}  // namespace tutti
