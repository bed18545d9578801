#include "audio/voice/voice_mel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

constexpr float kLeastSquare = 1e-9F;  // under the root of a magnitude, as Matcha-TTS has it

constexpr int kLanes = MelFrames::kFrames;  // frames side by side

/// Index `at` of a recording of `size` samples that goes on mirrored at both ends, for as long as it takes.
std::size_t mirrored_index(std::int64_t at, std::int64_t size) {
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
  return hann_window(options.window, options.n_fft);
}

VoiceMel::VoiceMel(VoiceMelOptions options)
    : options_(checked(options)),
      frames_(voice_window(options_), voice_mel_filters(options_), {.takes_root = true, .least_square = kLeastSquare}) {
}

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
  const std::size_t mels = frames_.filters();
  std::vector<float> mel(count * mels);
  energy.assign(count, 0);
  if (count == 0) return mel;
  const auto audio = mirrored(samples);
  MelFrames::Bands bands;
  for (std::size_t first = 0; first < count; first += kLanes) {
    std::array<const float*, kLanes> starts{};
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      starts[lane] = audio.data() + (first + lane) * static_cast<std::size_t>(options_.hop);
    frames_.compute(starts, bands);
    for (float& band : bands.mel) band = std::max(band, kLeast);
    mel_kernels().front().log10(bands.mel.data(), std::ssize(bands.mel));
    for (std::size_t lane = 0; lane < std::min<std::size_t>(kLanes, count - first); ++lane) {
      energy[first + lane] = std::sqrt(bands.powers[lane]);
      float* row = mel.data() + (first + lane) * mels;
      for (std::size_t bin = 0; bin < mels; ++bin)
        row[bin] = bands.mel[bin * kLanes + lane] * std::numbers::ln10_v<float>;
    }
  }
  return mel;
}

}  // namespace tutti
