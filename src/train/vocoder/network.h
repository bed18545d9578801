#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/ops.h"
#include "train/parameter.h"

namespace tutti {

/// The dimensions of a network that finds the magnitudes of spectra, of which mels are sums, frame by frame.
struct VocoderShape {
  std::int64_t mels = 80;
  std::int64_t bins = 513;   ///< of a frame's spectrum: n_fft / 2 + 1
  std::int64_t width = 128;  ///< width of the blocks; three times that inside
  std::int64_t layers = 6;
};

/// As config.json keeps it, and back; Fault::corrupt names what is missing.
std::string show_vocoder_shape(const VocoderShape& shape);
Result<VocoderShape> read_vocoder_shape(const std::string& json);

/// A ConvNeXt block.
struct VocoderBlock {
  at::Tensor depthwise{};  // [width, 1, 7]
  at::Tensor offset{};     // [width]
  ops::Norm norm{};
  ops::Linear expand{};
  ops::Linear contract{};
};

/// The network of a vocoder: float32 tensors on one device.
struct VocoderNetwork {
  VocoderShape shape{};
  ops::Linear begin{};  // [width, 7 * mels], tap by tap
  ops::Norm begin_norm{};
  std::vector<VocoderBlock> blocks{};
  ops::Norm end_norm{};
  ops::Linear magnitudes{};      // [bins, width]
  std::vector<Parameter> all{};  // in the order of the network
};

/// A new network; `seed` as of new_voice_network.
VocoderNetwork new_vocoder_network(const VocoderShape& shape, std::optional<std::uint64_t> seed, at::Device device);

/// The logarithms of the magnitudes of each frame's spectrum: mel [rows, frames, mels] float32, normalised -> [rows,
/// frames, bins] float32. Enqueues only.
at::Tensor log_magnitudes_of(const VocoderNetwork& network, const at::Tensor& mel);

}  // namespace tutti
