#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "audio/voice/voice_mel.h"
#include "train/vocoder/network.h"

namespace tutti {

/// Makes audio of pulses and noise by the filters of frames: their spectra are multiplied, the pulses' phases turned,
/// and the frames added up. Phases so come from the source, and what the filters turn of them. Immutable; what it is
/// called with and what it yields belong to the caller's stream. Nothing waits for a device.
class SourceFilter {
 public:
  SourceFilter(const VoiceMelOptions& options, at::Device device);

  /// What frames see: (frames - 1) * hop + n_fft samples, the first of them (n_fft - hop) / 2 before the first hop.
  std::int64_t samples(std::int64_t frames) const { return (frames - 1) * hop_ + window_.size(0); }
  /// The pulses of frames, in the samples that they see. `pitch`: of each frame, with edge() more at both ends.
  std::vector<float> pulses(std::span<const float> pitch, double phase) const;
  /// Frames at each end whose pulses the others see.
  std::int64_t edge() const { return (lead() + hop_ - 1) / hop_; }
  /// Samples before the first frame's hop.
  std::int64_t lead() const { return (window_.size(0) - hop_) / 2; }

  /// Spectra of what frames see: [rows, samples(frames)] float32 -> [rows, frames, bins], complex.
  at::Tensor spectra_of(const at::Tensor& samples) const;
  /// Those of the filtered source: pulses, noise [rows, samples(frames)] float32.
  at::Tensor filtered(const VocoderFilters& filters, const at::Tensor& pulses, const at::Tensor& noise) const;
  /// Frames added up: spectra -> [rows, samples(frames)] float32.
  at::Tensor audio_of(const at::Tensor& spectra) const;
  /// Spectra with the same phases whose magnitudes have these mels, [rows, frames, n_mels] and not their logarithms.
  at::Tensor with_mels(const at::Tensor& spectra, const at::Tensor& mels) const;

 private:
  Hertz rate_;
  std::int64_t hop_;
  at::Tensor window_;   // [n_fft] float32
  at::Tensor filters_;  // [bins, n_mels] float32
};

}  // namespace tutti
