#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ops.h"
#include "train/parameter.h"
#include "train/recompute.h"
#include "train/tts/voice_shape.h"

namespace tutti {

/// A pre-norm layer of the text encoder: attention with rotary positions, and a feed-forward part of two convolutions.
struct VoiceEncoderLayer {
  ops::Norm attention_norm{};
  ops::Linear joined{};  // query, key and value, one below the other
  ops::Linear out{};
  ops::Norm inner_norm{};
  ops::Linear expand{};    // [inner, 3 * width], tap by tap
  ops::Linear contract{};  // [width, 3 * inner]
};

/// A convolution that a norm follows: [out, taps * in], tap by tap.
struct VoiceConv {
  ops::Linear taps{};
  ops::Norm norm{};
};

/// A ConvNeXt block of the decoder, which gets the time by FiLM.
struct VoiceDecoderBlock {
  ops::Linear film{};      // map of the time: a factor and a shift for each channel
  at::Tensor depthwise{};  // [width, 1, 7]
  at::Tensor offset{};     // [width]
  ops::Norm norm{};
  ops::Linear expand{};
  ops::Linear contract{};
};

struct VoiceWeights {
  at::Tensor symbols{};   // [symbols, width]
  at::Tensor speakers{};  // [speakers, width]
  std::vector<VoiceConv> prenet{};
  std::vector<VoiceEncoderLayer> layers{};
  ops::Norm norm{};
  ops::Linear mean{};                  // [mels, width]
  std::vector<VoiceConv> durations{};  // on the encoder's output
  ops::Linear duration{};              // [1, duration_width]
  ops::Linear condition{};             // [decoder_width, width + mels]
  at::Tensor position{};               // [decoder_width, positions]; undefined where the shape has none
  ops::Linear noisy{};                 // [decoder_width, mels]
  ops::Linear time{};                  // map of its sinusoids
  std::vector<VoiceDecoderBlock> blocks{};
  ops::Norm decoder_norm{};
  ops::Linear velocity{};  // [mels, decoder_width]
};

/// The network of a voice: float32 tensors on one device.
struct VoiceNetwork {
  VoiceShape shape{};
  VoiceWeights weights{};        // the tensors of `all`
  std::vector<Parameter> all{};  // in the order of the network
};

/// A new network. Matrices are even within 1 / sqrt(fan_in), embeddings normal; what makes the velocity is zero, so
/// that a new network adds nothing to its noise. The same seed gives the same weights; without one what would be drawn
/// is left unset, for weights that are copied over it.
VoiceNetwork new_voice_network(const VoiceShape& shape, std::optional<std::uint64_t> seed, at::Device device);

/// What the encoder makes of texts.
struct EncodedText {
  at::Tensor mean{};           // [rows, symbols, mels] float32: of each symbol's frames, normalised
  at::Tensor condition{};      // [rows, symbols, decoder_width]: what the decoder gets of each
  at::Tensor log_durations{};  // [rows, symbols] float32: logarithms of frames
  at::Tensor mask{};           // [rows, symbols, 1] float32: 1 at symbols, 0 behind a row's last one
};

/// symbols: [rows, length] int64; counts: [rows] int64, true lengths; speakers: [rows] int64, all on the network's
/// device. What is behind a row's last symbol changes nothing of the row. Dropout is of the layers' activations, and
/// what is computed again are the layers. The durations' gradient ends at the encoder. Enqueues only.
EncodedText encode_text(const VoiceNetwork& network, const at::Tensor& symbols, const at::Tensor& counts,
                        const at::Tensor& speakers, const ForwardOptions& options = {});

/// What the decoder gets of each frame: its symbol's condition, and where within the symbol the frame is. A symbol of
/// many frames has one mean, and the decoder would otherwise see its position only near its edges. durations [rows,
/// symbols] int64; frames [rows or 1, count] int64, counted from each row's first -> [rows, count, decoder_width]
/// float32. Enqueues only.
at::Tensor condition_of(const VoiceNetwork& network, const EncodedText& text, const at::Tensor& durations,
                        const at::Tensor& frames);

/// Where noise moves to on its way to a spectrogram: noisy [rows, frames, mels] float32 at `time` [rows] float32, 0
/// noise and 1 the spectrogram; condition [rows, frames, decoder_width]; mask [rows, frames, 1] float32 -> [rows,
/// frames, mels] float32. What is behind a row's last frame changes nothing of the row. `recompute`: blocks are
/// computed again for the gradient. Enqueues only.
at::Tensor velocity_of(const VoiceNetwork& network, const at::Tensor& noisy, const at::Tensor& time,
                       const at::Tensor& condition, const at::Tensor& mask, bool recompute = false);

/// 1 at the first `counts` of `length` positions: [rows, length, 1] float32.
at::Tensor mask_of(const at::Tensor& counts, std::int64_t length);

}  // namespace tutti
