#pragma once

#include <cstdint>

#include "base/units.h"
#include "hub/model_shape.h"
#include "model/formats/dims.h"
#include "train/tts/voice_shape.h"

namespace tutti {

/// The dims of a network of that shape, with heads of the usual width of 64.
WhisperDims dims_of(const ModelShape& shape);

/// The weights of a network of that shape. Pure.
std::int64_t parameters_of(const WhisperDims& dims);

/// What a step holds of one window at most, in float32, whose text fills the decoder: what the backward pass needs of
/// every layer, and what is at work beside that where it is the most. Kernels of attention keep no weights of
/// positions, as those of torch on GPUs and on CPUs. `recompute`: gradient-checkpointing. Pure.
Bytes activations_of(const WhisperDims& dims, bool recompute);

/// What a batch of the ring has of a window: log-mel features, and both rows of tokens. Pure.
Bytes ring_sample_of(const WhisperDims& dims);

/// The longest clip that a plan is for: lengths that a batch is padded to.
struct ClipLength {
  std::int64_t symbols = 0;
  std::int64_t frames = 0;
};

/// What a step holds of one clip at most, in float32: what the backward pass needs of the encoder, the alignment and
/// the decoder's crop, and the gradients at work beside that. `recompute`: gradient-checkpointing. Pure.
Bytes activations_of(const VoiceShape& shape, const ClipLength& clip, bool recompute);

/// What a batch of the ring has of a clip: symbols and spectrogram. Pure.
Bytes ring_sample_of(const VoiceShape& shape, const ClipLength& clip);

}  // namespace tutti
