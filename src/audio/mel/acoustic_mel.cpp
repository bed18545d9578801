#include "audio/mel/acoustic_mel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

constexpr float kLeast = 1e-10F;  // before the logarithm

double mel_of(double hertz) {
  return 2595.0 * std::log10(1 + hertz / 700);
}

double hertz_of(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

/// torchaudio.functional.melscale_fbanks(n_fft / 2 + 1, 0, rate / 2, n_mels, rate, norm=None, mel_scale="htk").
std::vector<MelFilter> htk_filters(const AcousticMelOptions& o) {
  const double top = mel_of(o.rate.value / 2.0), bin_hertz = static_cast<double>(o.rate.value) / o.n_fft;
  const auto edge = [&](int i) { return hertz_of(top * i / (o.n_mels + 1)); };
  std::vector<MelFilter> filters(static_cast<std::size_t>(o.n_mels));
  for (int mel = 0; mel < o.n_mels; ++mel) {
    auto& filter = filters[static_cast<std::size_t>(mel)];
    const double low = edge(mel), peak = edge(mel + 1), high = edge(mel + 2);
    for (int bin = 0; bin <= o.n_fft / 2; ++bin) {
      const double hertz = bin * bin_hertz;
      const double height = std::min((hertz - low) / (peak - low), (high - hertz) / (high - peak));
      if (height <= 0) continue;
      if (filter.weights.empty()) filter.first_bin = bin;
      filter.weights.push_back(static_cast<float>(height));
    }
  }
  return filters;
}

AcousticMelOptions checked(const AcousticMelOptions& o) {
  const bool valid = o.n_fft >= 4 && std::has_single_bit(static_cast<unsigned>(o.n_fft)) && o.hop >= 1 &&
                     o.n_mels >= 1 && o.rate.value >= 1 && (o.power == 1 || o.power == 2);
  if (!valid) throw std::invalid_argument("acoustic mel: n_fft is a power of two, hop, n_mels and rate are positive");
  return o;
}

}  // namespace

AcousticMel::AcousticMel(AcousticMelOptions options) : options_(checked(options)), fft_(options.n_fft) {
  for (int i = 0; i < options_.n_fft; ++i) {
    const double turn = 2 * std::numbers::pi * i / options_.n_fft;
    window_.push_back(static_cast<float>(0.5 - 0.5 * std::cos(turn)));
  }
  filters_ = htk_filters(options_);
}

std::int64_t AcousticMel::frames(std::int64_t samples) const {
  return samples < options_.n_fft ? 0 : (samples - options_.n_fft) / options_.hop + 1;
}

/// |FFT| of one windowed frame, or its square.
void AcousticMel::magnitudes(const float* samples, Frame& frame) const {
  for (std::size_t i = 0; i < window_.size(); ++i) frame.samples[i] = samples[i] * window_[i];
  fft_.forward(frame.samples, frame.work, frame.bins);
  for (std::size_t k = 0; k < frame.bins.size(); ++k) {
    const auto value = frame.bins[k];
    const float square = value.real() * value.real() + value.imag() * value.imag();
    frame.magnitudes[k] = options_.power == 1 ? std::sqrt(square) : square;
  }
}

void AcousticMel::compute(std::span<const float> samples, std::span<float> out) const {
  const auto count = frames(std::ssize(samples));
  const auto size = static_cast<std::size_t>(options_.n_fft), half = size / 2;
  Frame work{std::vector<float>(size), std::vector<std::complex<float>>(half),
             std::vector<std::complex<float>>(half + 1), std::vector<float>(half + 1)};
  const float factor = options_.power == 1 ? 20.0F : 10.0F;
  for (std::int64_t frame = 0; frame < count; ++frame) {
    magnitudes(samples.data() + frame * options_.hop, work);
    for (std::size_t mel = 0; mel < filters_.size(); ++mel) {
      const auto& filter = filters_[mel];
      float sum = 0;
      for (std::size_t i = 0; i < filter.weights.size(); ++i)
        sum += filter.weights[i] * work.magnitudes[static_cast<std::size_t>(filter.first_bin) + i];
      out[mel * static_cast<std::size_t>(count) + static_cast<std::size_t>(frame)] =
          factor * std::log10(std::max(sum, kLeast));
    }
  }
  if (options_.top_db <= 0 || out.empty()) return;
  const float least = *std::ranges::max_element(out) - static_cast<float>(options_.top_db);
  for (float& value : out) value = std::max(value, least);
}

}  // namespace tutti
