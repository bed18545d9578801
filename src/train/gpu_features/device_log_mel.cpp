#include "train/gpu_features/device_log_mel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "audio/mel_kernel.h"

namespace tutti {
namespace {

at::Tensor filter_matrix(int n_mels) {
  auto matrix = at::zeros({kMelBins, n_mels}, at::kDouble);
  auto values = matrix.accessor<double, 2>();
  const auto filters = mel_filters(n_mels);
  for (std::int64_t mel = 0; mel < n_mels; ++mel) {
    std::int64_t bin = filters[static_cast<std::size_t>(mel)].first_bin;
    for (const float weight : filters[static_cast<std::size_t>(mel)].weights) values[bin++][mel] = weight;
  }
  return matrix;
}

/// Mirrored at its start, and with zeros behind it, so that so many frames centred on every hop see samples.
at::Tensor padded(const at::Tensor& sound, std::int64_t frames) {
  constexpr std::int64_t kEdge = kMelFft / 2;
  const auto wanted = (frames - 1) * kMelHop + kMelFft;
  const auto filled = at::constant_pad_nd(sound, {0, std::max<std::int64_t>(wanted - kEdge - sound.size(1), 1)});
  const auto mirrored = filled.narrow(1, 1, kEdge).flip(1);
  return at::cat({mirrored, filled}, 1).narrow(1, 0, wanted);
}

/// What the model takes for a log10 of power, under a row's maximum.
at::Tensor scaled(const at::Tensor& log_power, const at::Tensor& maximum) {
  return (at::maximum(log_power, maximum - kMelDecades) + 4) * 0.25;
}

}  // namespace

DeviceLogMel::DeviceLogMel(int n_mels, at::Device device)
    : window_(at::hann_window(kMelFft, /*periodic=*/true, at::device(device).dtype(at::kFloat))),
      filters_(filter_matrix(n_mels).to(device)) {}

at::Tensor DeviceLogMel::operator()(const at::Tensor& sound, std::int64_t sounding, std::int64_t frames) const {
  const auto seen = padded(sound, sounding).unfold(1, kMelFft, kMelHop) * window_;  // [rows, sounding, kMelFft]
  const auto power = at::abs(at::fft_rfft(seen)).square().to(at::kDouble);          // [rows, sounding, kMelBins]
  const auto mel = at::matmul(power, filters_).clamp_min(kMelFloor).log10().transpose(1, 2);
  const auto maximum = mel.amax({1, 2}, /*keepdim=*/true);
  const auto real = scaled(mel.narrow(2, 0, std::min(sounding, frames)), maximum).to(at::kFloat);
  if (real.size(2) == frames) return real.contiguous();
  const auto silence = scaled(at::full_like(maximum, std::log10(kMelFloor)), maximum).to(at::kFloat);
  return at::cat({real, silence.expand({real.size(0), real.size(1), frames - real.size(2)})}, 2);
}

}  // namespace tutti
