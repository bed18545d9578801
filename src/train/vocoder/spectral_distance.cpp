#include "train/vocoder/spectral_distance.h"

#include <ATen/ATen.h>

#include "train/tts/voice_features.h"

namespace tutti {
namespace {

constexpr std::int64_t kOverlap = 4;  // windows that see a sample

/// [rows, frames, bins].
at::Tensor magnitudes_of(const at::Tensor& audio, const at::Tensor& window, std::int64_t hop) {
  const auto bins = at::view_as_real(at::fft_rfft(audio.unfold(1, window.size(0), hop) * window));
  return (bins.square().sum(-1) + kLeastSquare).sqrt();
}

at::Tensor norm_of_rows(const at::Tensor& x) {
  return at::linalg_vector_norm(x, 2, at::IntArrayRef({1, 2}));
}

at::Tensor mean_of_rows(const at::Tensor& x) {
  return x.mean(at::IntArrayRef({1, 2}));
}

}  // namespace

SpectralDistance::SpectralDistance(const VoiceMelOptions& options, at::Device device)
    : filters_(voice_filter_matrix(options).to(device)) {
  resolutions_.push_back({at::tensor(voice_window(options)).to(device), options.hop});
  for (const std::int64_t size : {options.n_fft / 4, options.n_fft / 2, 2 * options.n_fft})
    resolutions_.push_back({at::hann_window(size, at::kFloat).to(device), size / kOverlap});
}

SpectralDistances SpectralDistance::operator()(const at::Tensor& audio, const at::Tensor& recording) const {
  SpectralDistances distances;
  for (const auto& one : resolutions_) {
    const auto made = magnitudes_of(audio, one.window, one.hop), wanted = magnitudes_of(recording, one.window, one.hop);
    const auto spectra =
        norm_of_rows(wanted - made) / norm_of_rows(wanted) + mean_of_rows((wanted.log() - made.log()).abs());
    distances.spectra = distances.spectra.defined() ? distances.spectra + spectra : spectra;
    if (distances.mel.defined()) continue;
    const auto log_mel = [&](const at::Tensor& magnitudes) {
      return at::matmul(magnitudes.to(at::kDouble), filters_).clamp_min(VoiceMel::kLeast).log();
    };
    distances.mel = mean_of_rows((log_mel(wanted) - log_mel(made)).abs()).to(at::kFloat);
  }
  distances.spectra = distances.spectra / static_cast<double>(resolutions_.size());
  return distances;
}

}  // namespace tutti
