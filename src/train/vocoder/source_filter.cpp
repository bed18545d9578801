#include "train/vocoder/source_filter.h"

#include <ATen/ATen.h>

#include <array>

#include "audio/vocoder/pulses.h"
#include "train/tts/voice_features.h"

namespace tutti {
namespace {

/// Frames added up: [rows, frames, size] -> [rows, (frames - 1) * hop + size].
at::Tensor added_up(const at::Tensor& frames, std::int64_t hop) {
  const auto size = frames.size(2), length = (frames.size(1) - 1) * hop + size;
  const std::array<std::int64_t, 2> output{1, length}, kernel{1, size}, ones{1, 1}, none{0, 0}, stride{1, hop};
  return at::col2im(frames.transpose(1, 2), output, kernel, ones, none, stride).view({frames.size(0), length});
}

}  // namespace

SourceFilter::SourceFilter(const VoiceMelOptions& options, at::Device device)
    : rate_(options.rate),
      hop_(options.hop),
      window_(at::tensor(voice_window(options)).to(device)),
      filters_(voice_filter_matrix(options).to(device, at::kFloat)) {}

std::vector<float> SourceFilter::pulses(std::span<const float> pitch, double phase) const {
  const auto all = pulses_of(pitch, {.rate = rate_, .hop = static_cast<int>(hop_), .phase = phase});
  const auto first = all.begin() + edge() * hop_ - lead();
  return {first, first + samples(std::ssize(pitch) - 2 * edge())};
}

at::Tensor SourceFilter::spectra_of(const at::Tensor& samples) const {
  return at::fft_rfft(samples.unfold(1, window_.size(0), hop_) * window_);
}

at::Tensor SourceFilter::filtered(const VocoderFilters& filters, const at::Tensor& pulses,
                                  const at::Tensor& noise) const {
  return spectra_of(pulses) * at::polar(filters.pulses.exp(), filters.turns) + spectra_of(noise) * filters.noise.exp();
}

at::Tensor SourceFilter::audio_of(const at::Tensor& spectra) const {
  const auto size = window_.size(0);
  const auto frames = at::fft_irfft(spectra, size) * window_;
  const auto weights = added_up(window_.square().expand({1, frames.size(1), size}), hop_);
  constexpr double kLeast = 0.01;  // of the largest weight: the ends, where hardly any window reaches
  return added_up(frames, hop_) / weights.clamp_min(weights.max() * kLeast);
}

/// Multiplicative updates, as GriffinLim has them.
at::Tensor SourceFilter::with_mels(const at::Tensor& spectra, const at::Tensor& mels) const {
  constexpr int kUpdates = 10;
  constexpr double kTiny = 1e-9;
  const auto weights = filters_.sum(1);
  const auto shares = at::where(weights > 0, filters_.transpose(0, 1) / weights.clamp_min(kTiny), 0.0);
  const auto beyond = (weights == 0).to(at::kFloat);  // bins that no mel has, which stay as they are
  const auto before = spectra.abs() + kTiny;
  auto magnitudes = before;
  for (int update = 0; update < kUpdates; ++update)
    magnitudes = magnitudes * (at::matmul(mels / (at::matmul(magnitudes, filters_) + kTiny), shares) + beyond);
  return spectra * (magnitudes / before);
}

}  // namespace tutti
