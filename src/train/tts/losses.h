#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "train/tts/network.h"

namespace tutti {

/// Clips as the network learns from them, all on its device; true lengths beside padded rows.
struct VoiceRows {
  at::Tensor symbols{};        // [rows, length] int64
  at::Tensor symbol_counts{};  // [rows] int64
  at::Tensor mel{};            // [rows, frames, mels] float32, normalised
  at::Tensor frame_counts{};   // [rows] int64
  at::Tensor speakers{};       // [rows] int64
  at::Tensor crop{};           // [rows] float32, 0 to 1: where in its clip a row's crop for the decoder begins
  at::Tensor time{};           // [rows] float32, 0 to 1: how far the noise of a row has moved
  at::Tensor is_even{};        // [rows] bool: its frames are shared out evenly, not searched for; undefined: none's are
};

/// What is lost of each row, [rows] float32: a mean over its own symbols or frames, so that rows count alike however
/// they are batched.
struct VoiceLosses {
  at::Tensor prior{};      // half the squared distance of the frames from their symbols' means
  at::Tensor durations{};  // twice Poisson's deviance of the durations, in units of their mean
  at::Tensor flow{};       // squared error of the velocity, over the crop
};

/// Frames of a clip that the decoder learns from in a step.
inline constexpr std::int64_t kCropFrames = 128;

/// How well each frame fits each symbol: the logarithm of its density under these means but for what all symbols have
/// in common. mean [rows, length, mels] float32, normalised -> [rows, frames, length] float32. Enqueues only.
at::Tensor symbol_scores(const at::Tensor& mean, const VoiceRows& rows);

/// The frames of each symbol along the best monotonic path under these means: mean [rows, length, mels] float32,
/// normalised -> [rows, length] int64 on its device. Waits for the device.
at::Tensor searched_durations(const at::Tensor& mean, const VoiceRows& rows);

/// Aligns every text with its clip by the best monotonic path under the means as they are, and measures the network
/// against that. `noise`: [rows, kCropFrames, mels] float32. The durations that were found go to `durations` where it
/// is given: [rows, length] int64.
VoiceLosses voice_losses(const VoiceNetwork& network, const VoiceRows& rows, const at::Tensor& noise,
                         const ForwardOptions& options = {}, at::Tensor* durations = nullptr);

}  // namespace tutti
