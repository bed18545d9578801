#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tutti {

/// Whisper's log-mel spectrogram as audio/log_mel.h computes it, of many recordings at once, on whatever device the
/// tensors are. Immutable; what it is called with and what it yields belong to the caller's stream.
class DeviceLogMel {
 public:
  DeviceLogMel(int n_mels, at::Device device);

  /// [rows, n_mels, frames] float32. `sound`: [rows, samples] float32, full scale 1, each row followed by zeros;
  /// `sounding`: frames from whose end on there is silence in every row. A row's clamp looks at all of its own.
  at::Tensor operator()(const at::Tensor& sound, std::int64_t sounding, std::int64_t frames) const;

 private:
  at::Tensor window_;   // [kMelFft] float32, Hann
  at::Tensor filters_;  // [kMelBins, n_mels] float64: products in it are exact enough whatever TF32 is set to
};

}  // namespace tutti
