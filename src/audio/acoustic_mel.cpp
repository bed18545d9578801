#include "audio/acoustic_mel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

using Complex = std::complex<float>;

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

void check(const AcousticMelOptions& o) {
  const bool valid = o.n_fft >= 4 && std::has_single_bit(static_cast<unsigned>(o.n_fft)) && o.hop >= 1 &&
                     o.n_mels >= 1 && o.rate.value >= 1 && (o.power == 1 || o.power == 2);
  if (!valid) throw std::invalid_argument("acoustic mel: n_fft is a power of two, hop, n_mels and rate are positive");
}

}  // namespace

AcousticMel::AcousticMel(AcousticMelOptions options) : options_(options) {
  check(options_);
  const auto size = static_cast<std::size_t>(options_.n_fft), half = size / 2;
  for (std::size_t i = 0; i < size; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size);
    window_.push_back(static_cast<float>(0.5 - 0.5 * std::cos(turn)));
    if (i < half) turns_.emplace_back(static_cast<float>(std::cos(turn)), static_cast<float>(-std::sin(turn)));
  }
  const int bits = std::countr_zero(half);
  for (std::size_t i = 0; i < half; ++i) {
    std::uint32_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= ((i >> bit) & 1U) << (bits - 1 - bit);
    order_.push_back(reversed);
  }
  filters_ = htk_filters(options_);
}

std::int64_t AcousticMel::frames(std::int64_t samples) const {
  return samples < options_.n_fft ? 0 : (samples - options_.n_fft) / options_.hop + 1;
}

/// |FFT| of one windowed frame: the real transform as a complex one of half the length, radix 2.
void AcousticMel::magnitudes(const float* samples, std::span<Complex> work, std::span<float> bins) const {
  const std::size_t half = work.size();
  for (std::size_t i = 0; i < half; ++i) {
    const std::size_t at = 2 * order_[i];
    work[i] = {samples[at] * window_[at], samples[at + 1] * window_[at + 1]};
  }
  for (std::size_t length = 1; length < half; length *= 2) {
    const std::size_t stride = half / length;  // in turns_, which are of the whole length
    for (std::size_t first = 0; first < half; first += 2 * length)
      for (std::size_t k = 0; k < length; ++k) {
        const Complex turn = turns_[k * stride];
        const Complex a = work[first + k], b = work[first + k + length];
        const Complex turned{b.real() * turn.real() - b.imag() * turn.imag(),
                             b.real() * turn.imag() + b.imag() * turn.real()};
        work[first + k] = a + turned;
        work[first + k + length] = a - turned;
      }
  }
  for (std::size_t k = 0; k <= half; ++k) {
    const Complex a = work[k % half], b = std::conj(work[(half - k) % half]);
    const Complex even = 0.5F * (a + b), odd = 0.5F * (a - b);
    const Complex turn = k == half ? Complex(-1, 0) : turns_[k];
    // odd / i, turned
    const Complex part{odd.imag() * turn.real() + odd.real() * turn.imag(),
                       odd.imag() * turn.imag() - odd.real() * turn.real()};
    const Complex value = even + part;
    const float square = value.real() * value.real() + value.imag() * value.imag();
    bins[k] = options_.power == 1 ? std::sqrt(square) : square;
  }
}

void AcousticMel::compute(std::span<const float> samples, std::span<float> out) const {
  const auto count = frames(std::ssize(samples));
  const auto half = static_cast<std::size_t>(options_.n_fft / 2);
  std::vector<Complex> work(half);
  std::vector<float> bins(half + 1);
  const float factor = options_.power == 1 ? 20.0F : 10.0F;
  for (std::int64_t frame = 0; frame < count; ++frame) {
    magnitudes(samples.data() + frame * options_.hop, work, bins);
    for (std::size_t mel = 0; mel < filters_.size(); ++mel) {
      const auto& filter = filters_[mel];
      float sum = 0;
      for (std::size_t i = 0; i < filter.weights.size(); ++i)
        sum += filter.weights[i] * bins[static_cast<std::size_t>(filter.first_bin) + i];
      out[mel * static_cast<std::size_t>(count) + static_cast<std::size_t>(frame)] =
          factor * std::log10(std::max(sum, kLeast));
    }
  }
  if (options_.top_db <= 0 || out.empty()) return;
  const float least = *std::ranges::max_element(out) - static_cast<float>(options_.top_db);
  for (float& value : out) value = std::max(value, least);
}

}  // namespace tutti
