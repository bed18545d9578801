#include "audio/voice/voice_mel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

#include "audio/lanes.h"

namespace tutti {
namespace {

constexpr float kLeastSquare = 1e-9F;  // under the root of a magnitude, as Matcha-TTS has it

constexpr int kLanes = FrameFourier::kFrames;  // frames side by side

/// Index `at` of a recording of `size` samples that goes on mirrored at both ends, for as long as it takes.
std::size_t mirrored_index(std::int64_t at, std::int64_t size) {
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  at = (at % period + period) % period;
  return static_cast<std::size_t>(at < size ? at : period - at);
}

/// Magnitudes of kLanes spectra in place of their real parts, [bins, kLanes]; and the sums of their squares.
TUTTI_INLINE void find_magnitudes(float* re, const float* im, std::size_t bins, float* powers) {
  float sums[kLanes] = {};
  for (std::size_t k = 0; k < bins; ++k) {
    float squares[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = re[k * kLanes + lane], y = im[k * kLanes + lane];
      squares[lane] = x * x + y * y + kLeastSquare;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += squares[lane];
    for (std::size_t lane = 0; lane < kLanes; ++lane) re[k * kLanes + lane] = std::sqrt(squares[lane]);
  }
  std::copy_n(sums, kLanes, powers);
}

/// Mel bands of kLanes frames, [filters, kLanes], no less than VoiceMel::kLeast.
TUTTI_INLINE void find_bands(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  for (std::size_t mel = 0; mel < filters.size(); ++mel) {
    const float* bin = magnitudes + static_cast<std::size_t>(filters[mel].first_bin) * kLanes;
    float sums[kLanes] = {};
    for (const float weight : filters[mel].weights) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += weight * bin[lane];
      bin += kLanes;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      bands[mel * kLanes + lane] = sums[lane] > VoiceMel::kLeast ? sums[lane] : VoiceMel::kLeast;
  }
}

/// The arithmetic, compiled for one generation of machines.
struct Kernel {
  void (*magnitudes)(float* re, const float* im, std::size_t bins, float* powers);
  void (*bands)(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands);
};

[[TUTTI_AVX512]] void magnitudes_avx512(float* re, const float* im, std::size_t bins, float* powers) {
  find_magnitudes(re, im, bins, powers);
}
[[TUTTI_AVX2]] void magnitudes_avx2(float* re, const float* im, std::size_t bins, float* powers) {
  find_magnitudes(re, im, bins, powers);
}
void magnitudes_any(float* re, const float* im, std::size_t bins, float* powers) {
  find_magnitudes(re, im, bins, powers);
}
[[TUTTI_AVX512]] void bands_avx512(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}
[[TUTTI_AVX2]] void bands_avx2(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}
void bands_any(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}

const Kernel& kernel() {
  static const Kernel one = runs_avx512() ? Kernel{magnitudes_avx512, bands_avx512}
                            : runs_avx2() ? Kernel{magnitudes_avx2, bands_avx2}
                                          : Kernel{magnitudes_any, bands_any};
  return one;
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
      fourier_(options_.n_fft),
      filters_(voice_mel_filters(options_)) {}

/// The samples that whole groups of frames see: mirrored at both ends, and zeros behind.
std::vector<float> VoiceMel::mirrored(std::span<const float> samples) const {
  const std::int64_t lead = (options_.n_fft - options_.hop) / 2, count = std::ssize(samples);
  const std::int64_t groups = (frames(count) + kLanes - 1) / kLanes;
  std::vector<float> audio(static_cast<std::size_t>((groups * kLanes - 1) * options_.hop + options_.n_fft), 0.0F);
  const std::int64_t end = std::min(count + lead, std::ssize(audio) - lead);
  std::copy_n(samples.begin(), std::min(count, end), audio.begin() + lead);
  for (std::int64_t at = -lead; at < 0; ++at)
    audio[static_cast<std::size_t>(at + lead)] = samples[mirrored_index(at, count)];
  for (std::int64_t at = count; at < end; ++at)
    audio[static_cast<std::size_t>(at + lead)] = samples[mirrored_index(at, count)];
  return audio;
}

std::vector<float> VoiceMel::compute(std::span<const float> samples) const {
  std::vector<float> energy;
  return compute(samples, energy);
}

std::vector<float> VoiceMel::compute(std::span<const float> samples, std::vector<float>& energy) const {
  const auto count = static_cast<std::size_t>(frames(std::ssize(samples)));
  const std::size_t size = window_.size(), bins = size / 2 + 1, mels = filters_.size();
  std::vector<float> mel(count * mels);
  energy.assign(count, 0);
  if (count == 0) return mel;
  const auto audio = mirrored(samples);
  std::vector<float> part(size * kLanes, 0.0F), re(bins * kLanes), im(bins * kLanes), bands(mels * kLanes);
  const auto lead = static_cast<std::size_t>((options_.n_fft - options_.window) / 2);
  for (std::size_t first = 0; first < count; first += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float* from = audio.data() + (first + lane) * static_cast<std::size_t>(options_.hop);
      for (std::size_t i = lead; i < size - lead; ++i) part[i * kLanes + lane] = window_[i] * from[i];
    }
    fourier_.forward(part.data(), re.data(), im.data());
    std::array<float, kLanes> powers;
    kernel().magnitudes(re.data(), im.data(), bins, powers.data());
    kernel().bands(filters_, re.data(), bands.data());
    mel_kernels().front().log10(bands.data(), std::ssize(bands));
    for (std::size_t lane = 0; lane < std::min<std::size_t>(kLanes, count - first); ++lane) {
      energy[first + lane] = std::sqrt(powers[lane]);
      float* row = mel.data() + (first + lane) * mels;
      for (std::size_t bin = 0; bin < mels; ++bin) row[bin] = bands[bin * kLanes + lane] * std::numbers::ln10_v<float>;
    }
  }
  return mel;
}

}  // namespace tutti
