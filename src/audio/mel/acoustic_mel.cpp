#include "audio/mel/acoustic_mel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

double mel_of(double hertz) {
  return 2595.0 * std::log10(1 + hertz / 700);
}

double hertz_of(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

/// torchaudio.functional.melscale_fbanks(n_fft / 2 + 1, 0, rate / 2, n_mels, rate, norm=None, mel_scale="htk").
/// With linear bands the edges are as far apart in Hz as in mels.
std::vector<MelFilter> htk_filters(const AcousticMelOptions& o) {
  const double nyquist = o.rate.value / 2.0, top = mel_of(nyquist);
  const double bin_hertz = static_cast<double>(o.rate.value) / o.n_fft;
  const auto edge = [&](int i) { return o.linear ? nyquist * i / (o.n_mels + 1) : hertz_of(top * i / (o.n_mels + 1)); };
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

AcousticMel::AcousticMel(AcousticMelOptions options)
    : options_(checked(options)),
      frames_(hann_window(options_.n_fft, options_.n_fft), htk_filters(options_), {.takes_root = options_.power == 1}) {
}

std::int64_t AcousticMel::frames(std::int64_t samples) const {
  return samples < options_.n_fft ? 0 : (samples - options_.n_fft) / options_.hop + 1;
}

void AcousticMel::compute(std::span<const float> samples, std::size_t segment, std::span<float> out) const {
  const auto per_segment = static_cast<std::size_t>(frames(static_cast<std::int64_t>(segment)));
  if (per_segment == 0) return;
  const std::size_t count = samples.size() / segment * per_segment, mels = frames_.filters();
  const auto hop = static_cast<std::size_t>(options_.hop);
  const float factor = options_.power == 1 ? 20.0F : 10.0F;
  MelFrames::Bands bands;
  for (std::size_t first = 0; first < count; first += MelFrames::kFrames) {
    const std::size_t some = std::min<std::size_t>(MelFrames::kFrames, count - first);
    std::array<const float*, MelFrames::kFrames> starts{};
    for (std::size_t lane = 0; lane < some; ++lane) {
      const std::size_t frame = first + lane;
      starts[lane] = samples.data() + frame / per_segment * segment + frame % per_segment * hop;
    }
    frames_.compute(std::span(starts).first(some), bands);
    mel_kernels().front().log10(bands.mel.data(), std::ssize(bands.mel));
    for (std::size_t lane = 0; lane < some; ++lane) {
      const std::size_t frame = first + lane;
      float* column = out.data() + frame / per_segment * mels * per_segment + frame % per_segment;
      for (std::size_t mel = 0; mel < mels; ++mel)
        column[mel * per_segment] = factor * bands.mel[mel * MelFrames::kFrames + lane];
    }
  }
  if (options_.top_db <= 0) return;
  const std::size_t size = mels * per_segment;
  for (std::size_t first = 0; first < count * mels; first += size) {
    const auto values = out.subspan(first, size);
    const float least = *std::ranges::max_element(values) - static_cast<float>(options_.top_db);
    for (float& value : values) value = std::max(value, least);
  }
}

}  // namespace tutti
