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

/// The dimensions of a network that finds filters and a pitch of mels, frame by frame.
struct VocoderShape {
  std::int64_t mels = 80;
  std::int64_t bins = 513;   ///< of a frame's spectrum: n_fft / 2 + 1
  std::int64_t width = 128;  ///< width of the blocks; three times that inside
  std::int64_t layers = 6;
};

/// As config.json keeps it, and back; Fault::corrupt names what is missing.
std::string show_vocoder_shape(const VocoderShape& shape);
Result<VocoderShape> read_vocoder_shape(const std::string& json);

/// No pitch, and pitches from the lowest to the highest that PitchOptions has, evenly by their logarithms.
inline constexpr std::int64_t kPitchClasses = 1 + 128;

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
  ops::Linear pulses{}, noise{};  // [bins, width]
  ops::Linear turns{};            // [bins, width]
  ops::Linear pitch{};            // [kPitchClasses, width]
  std::vector<Parameter> all{};   // in the order of the network
};

/// What a vocoder finds of each frame: how a source of pulses and one of noise are filtered to sound as the frame does.
struct VocoderFilters {
  at::Tensor pulses{}, noise{};  // logarithms of each bin's factor, [rows, frames, bins] float32
  at::Tensor turns{};            // of the pulses' phases, in radians, as these
  at::Tensor pitch{};            // [rows, frames, kPitchClasses] float32: logits
};

/// A new network; `seed` as of new_voice_network.
VocoderNetwork new_vocoder_network(const VocoderShape& shape, std::optional<std::uint64_t> seed, at::Device device);

/// mel [rows, frames, mels] float32, normalised. Enqueues only.
VocoderFilters filters_of(const VocoderNetwork& network, const at::Tensor& mel);

/// The mean cross entropy of the frames' pitch, each divided among the two classes beside it: logits as of
/// VocoderFilters, pitch [rows, frames] float32 in Hz, 0 where there is none -> [rows]. Enqueues only.
at::Tensor pitch_losses(const at::Tensor& logits, const at::Tensor& pitch);

/// The pitch of frames in Hz, 0 where none is likelier: logits [frames, kPitchClasses] -> [frames].
std::vector<float> likeliest_pitch(const at::Tensor& logits);

}  // namespace tutti
