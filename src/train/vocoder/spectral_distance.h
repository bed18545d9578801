#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "audio/voice/voice_mel.h"

namespace tutti {

inline constexpr double kLeastSquare = 1e-9;  // under the root of a magnitude, as VoiceMel has it

/// How far audio is from a recording of the same length, by magnitudes alone: phases count only as far as they show in
/// magnitudes. [rows] float32 each.
struct SpectralDistances {
  at::Tensor mel{};      // mean absolute difference of the logarithms of mels
  at::Tensor spectra{};  // spectral convergence and mean absolute difference of log magnitudes, of four resolutions
};

/// The distances of Parallel WaveGAN (Yamamoto et al. 2020), with windows of a quarter, half, once and twice the
/// spectrograms'. Immutable; what it is called with and what it yields belong to the caller's stream.
class SpectralDistance {
 public:
  SpectralDistance(const VoiceMelOptions& options, at::Device device);

  /// Both [rows, samples] float32, of 2 * n_fft samples at least. Gradients go to both. Enqueues only.
  SpectralDistances operator()(const at::Tensor& audio, const at::Tensor& recording) const;

 private:
  struct Resolution {
    at::Tensor window;  // [n_fft] float32
    std::int64_t hop;
  };

  std::vector<Resolution> resolutions_{};  // the spectrograms' first
  at::Tensor filters_;                     // [n_fft / 2 + 1, n_mels] float64
};

}  // namespace tutti
