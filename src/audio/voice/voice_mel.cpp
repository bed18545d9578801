#include "audio/voice/voice_mel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

constexpr float kLeastSquare = 1e-9F;  // under the root of a magnitude, as Matcha-TTS has it

/// Index `at` of a recording of `size` samples that goes on mirrored at both ends, for as long as it takes.
std::size_t mirrored(std::int64_t at, std::int64_t size) {
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  at = (at % period + period) % period;
  return static_cast<std::size_t>(at < size ? at : period - at);
}

}  // namespace

VoiceMelOptions usual_voice_mel(Hertz rate) {
  constexpr Hertz kLong{22050};
  VoiceMelOptions options{.rate = rate};
  if (rate < kLong) options.window = 800, options.hop = 200;
  return options;
}

Result<void> check(const VoiceMelOptions& o) {
  const auto refuse = [](const std::string& what) -> Result<void> { return fail(Fault::usage, what); };
  constexpr int kLeastRate = 4000, kMostRate = 192'000, kMostFft = 1 << 16, kMostMels = 512;
  if (o.rate.value < kLeastRate || o.rate.value > kMostRate)
    return refuse("the rate: expected 4000 to 192000 Hz, found " + std::to_string(o.rate.value));
  if (o.n_fft < 64 || o.n_fft > kMostFft || !std::has_single_bit(static_cast<unsigned>(o.n_fft)))
    return refuse("the size of the Fourier transform: expected a power of two from 64 to 65536, found " +
                  std::to_string(o.n_fft));
  if (o.window < 16 || o.window > o.n_fft)
    return refuse("the window: expected 16 to " + std::to_string(o.n_fft) + " samples, found " +
                  std::to_string(o.window));
  if (o.hop < 1 || 2 * o.hop > o.window)
    return refuse("the hop: expected 1 to half the window, " + std::to_string(o.window / 2) + " samples, found " +
                  std::to_string(o.hop));
  if (o.n_mels < 1 || o.n_mels > std::min(kMostMels, o.n_fft / 2))
    return refuse("the number of mel bins: expected 1 to " + std::to_string(std::min(kMostMels, o.n_fft / 2)) +
                  ", found " + std::to_string(o.n_mels));
  if (!(o.lowest >= 0 && o.lowest < o.top() && o.top() <= o.rate.value / 2.0))
    return refuse("the range of the mel filters: expected it within 0 and half the rate, found " +
                  std::to_string(o.lowest) + " to " + std::to_string(o.top()) + " Hz");
  return {};
}

VoiceMelOptions checked(const VoiceMelOptions& options) {
  if (auto valid = check(options); !valid) throw std::invalid_argument(valid.error().text());
  return options;
}

std::vector<MelFilter> voice_mel_filters(const VoiceMelOptions& options) {
  return slaney_filters({options.rate, options.n_fft, options.n_mels, options.lowest, options.top()});
}

std::vector<float> voice_window(const VoiceMelOptions& options) {
  std::vector<float> window(static_cast<std::size_t>(options.n_fft), 0.0F);
  const auto lead = static_cast<std::size_t>((options.n_fft - options.window) / 2);
  for (int i = 0; i < options.window; ++i) {
    const double turn = 2 * std::numbers::pi * i / options.window;
    window[lead + static_cast<std::size_t>(i)] = static_cast<float>(0.5 - 0.5 * std::cos(turn));
  }
  return window;
}

VoiceMel::VoiceMel(VoiceMelOptions options)
    : options_(checked(options)),
      window_(voice_window(options_)),
      fft_(options_.n_fft),
      filters_(voice_mel_filters(options_)) {}

/// Calls `take(frame, magnitudes)` for every frame.
template <class TakeFrame>
void VoiceMel::for_each_frame(std::span<const float> samples, const TakeFrame& take) const {
  const auto size = static_cast<std::size_t>(options_.n_fft);
  const std::int64_t lead = (options_.n_fft - options_.hop) / 2, count = std::ssize(samples);
  std::vector<float> part(size), magnitudes(size / 2 + 1);
  std::vector<std::complex<float>> work(size / 2), bins(size / 2 + 1);
  for (std::int64_t frame = 0; frame < frames(count); ++frame) {
    const std::int64_t first = frame * options_.hop - lead;
    const bool is_inside = first >= 0 && first + options_.n_fft <= count;
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t at = first + static_cast<std::int64_t>(i);
      part[i] = window_[i] * samples[is_inside ? static_cast<std::size_t>(at) : mirrored(at, count)];
    }
    fft_.forward(part, work, bins);
    for (std::size_t k = 0; k < bins.size(); ++k)
      magnitudes[k] = std::sqrt(bins[k].real() * bins[k].real() + bins[k].imag() * bins[k].imag() + kLeastSquare);
    take(static_cast<std::size_t>(frame), std::span<const float>(magnitudes));
  }
}

std::vector<float> VoiceMel::compute(std::span<const float> samples) const {
  std::vector<float> energy;
  return compute(samples, energy);
}

std::vector<float> VoiceMel::compute(std::span<const float> samples, std::vector<float>& energy) const {
  const auto count = static_cast<std::size_t>(frames(std::ssize(samples)));
  std::vector<float> mel(count * filters_.size());
  energy.assign(count, 0);
  for_each_frame(samples, [&](std::size_t frame, std::span<const float> magnitudes) {
    double power = 0;
    for (const float magnitude : magnitudes) power += static_cast<double>(magnitude) * magnitude;
    energy[frame] = static_cast<float>(std::sqrt(power));
    float* row = mel.data() + frame * filters_.size();
    for (std::size_t bin = 0; bin < filters_.size(); ++bin) {
      const auto& filter = filters_[bin];
      float sum = 0;
      for (std::size_t i = 0; i < filter.weights.size(); ++i)
        sum += filter.weights[i] * magnitudes[static_cast<std::size_t>(filter.first_bin) + i];
      row[bin] = std::log(std::max(sum, kLeast));
    }
  });
  return mel;
}

}  // namespace tutti
