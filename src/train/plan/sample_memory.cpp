#include "train/plan/sample_memory.h"

#include <algorithm>

#include "hub/memory_plan.h"
#include "train/tts/losses.h"

namespace tutti {
namespace {

constexpr std::int64_t kFloat = 4, kToken = 8, kSymbol = 8;  // bytes
constexpr std::int64_t kHeadWidth = 64;

/// Numbers of one window that a network holds, a layer or a part at a time.
struct Counts {
  std::int64_t front = 0;          // both convolutions, before and behind their GELU
  std::int64_t encoder_input = 0;  // of a block
  std::int64_t encoder_block = 0;  // with its input
  std::int64_t decoder_input = 0;
  std::int64_t decoder_block = 0;
  std::int64_t logits = 0;
};

/// Of a block the backward pass needs its input, norm, query, key, value, attention, sum, norm, and four times the
/// width twice: before and behind the GELU. A decoder's has query, keys, values, attention, sum and norm of the window,
/// too.
Counts counts_of(const WhisperDims& d) {
  const std::int64_t width = d.n_audio_state, heads = d.n_audio_head;
  const std::int64_t positions = d.n_audio_ctx, tokens = d.n_text_ctx;
  constexpr std::int64_t kFront = 5, kEncoder = 16, kDecoder = 20, kWindow = 2;
  return {.front = kFront * positions * width,
          .encoder_input = positions * width,
          .encoder_block = kEncoder * positions * width + heads * positions,
          .decoder_input = tokens * width,
          .decoder_block = kDecoder * tokens * width + kWindow * positions * width + 2 * heads * tokens,
          .logits = tokens * d.n_vocab};
}

/// Numbers of one symbol. A convolution's input is there beside what goes into the norm behind it. A layer has input
/// and output of both norms, query, key and value before and behind their rotation, and what was attended; where it is
/// computed again, its input alone: the layer that is at work is there when the decoder's blocks are not any more.
std::int64_t of_symbol(const VoiceShape& s, bool recompute) {
  constexpr std::int64_t kPrenet = 4, kLayer = 10, kInner = 2, kNorm = 2, kDurations = 4;
  const auto layer = kLayer * s.width + kInner * s.inner;
  const auto layers = recompute ? s.layers * s.width : s.layers * layer;
  return (kPrenet + kNorm + 1) * s.width + layers + 2 * s.mels + s.width + kDurations * s.duration_width;
}

/// Numbers of one frame of the decoder's crop. A block has the input and the output of its convolution, the norm's
/// before and behind the time, and its inner layer before and behind the GELU; where it is computed again, its input
/// alone, and one block is there whole.
std::int64_t of_crop(const VoiceShape& s, bool recompute) {
  constexpr std::int64_t kBlock = 4, kInner = 2, kNorm = 2;
  const auto block = kBlock * s.decoder_width + kInner * s.decoder_inner;
  const auto blocks = recompute ? s.decoder_layers * s.decoder_width + block : s.decoder_layers * block;
  return blocks + kNorm * s.decoder_width + 2 * s.mels;
}

}  // namespace

WhisperDims dims_of(const ModelShape& shape) {
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  const auto heads = number(std::max<std::int64_t>(1, shape.state / kHeadWidth));
  return {.n_mels = number(shape.n_mels),
          .n_audio_ctx = number(shape.audio_positions),
          .n_audio_state = number(shape.state),
          .n_audio_head = heads,
          .n_audio_layer = number(shape.audio_layers),
          .n_vocab = number(shape.vocabulary),
          .n_text_ctx = number(shape.text_positions),
          .n_text_state = number(shape.state),
          .n_text_head = heads,
          .n_text_layer = number(shape.text_layers)};
}

std::int64_t parameters_of(const WhisperDims& d) {
  const ModelShape shape{d.n_mels,        d.n_audio_ctx,   d.n_text_ctx,  d.n_vocab,
                         d.n_audio_state, d.n_audio_layer, d.n_text_layer};
  // Biases and norms in units of the width: of each layer, and of convolutions and last norms. That plan leaves them
  // out.
  constexpr std::int64_t kEncoder = 12, kDecoder = 17, kOther = 6;
  const auto vectors = kEncoder * d.n_audio_layer + kDecoder * d.n_text_layer + kOther;
  return memory_plan(shape, *number_sizes("float32")).weights.value / kFloat + vectors * d.n_audio_state;
}

Bytes activations_of(const WhisperDims& dims, bool recompute) {
  const auto n = counts_of(dims);
  constexpr std::int64_t kAtWork = 6;  // times the width: gradients on both sides of a GELU less what is released
  const auto encoder = dims.n_audio_layer * (recompute ? n.encoder_input : n.encoder_block);
  const auto decoder = dims.n_text_layer * (recompute ? n.decoder_input : n.decoder_block);
  const auto encoded = n.front + encoder + 2 * n.encoder_input;  // and the last norm's input and output
  // Where the logits' gradient is made, it is there twice beside their logarithms.
  const auto at_logits = encoded + decoder + 2 * n.decoder_input + 3 * n.logits;
  const auto in_decoder =
      encoded + decoder + n.encoder_input + kAtWork * n.decoder_input + (recompute ? n.decoder_block : 0);
  const auto in_encoder = encoded + (1 + kAtWork) * n.encoder_input + (recompute ? n.encoder_block : 0);
  return Bytes{kFloat * std::max({at_logits, in_decoder, in_encoder})};
}

Bytes ring_sample_of(const WhisperDims& dims) {
  return Bytes{kFloat * dims.n_mels * 2 * dims.n_audio_ctx + 2 * kToken * dims.n_text_ctx};
}

Bytes activations_of(const VoiceShape& shape, const ClipLength& clip, bool recompute) {
  const auto encoder = clip.symbols * of_symbol(shape, recompute);
  const auto grid = clip.frames * clip.symbols;  // which symbol a frame belongs to
  const auto aligned = encoder + grid + clip.frames * shape.mels + kCropFrames * clip.symbols;
  const auto at_work = kCropFrames * (2 * shape.decoder_width + shape.decoder_inner);
  constexpr std::int64_t kScores = 3;  // of symbols at frames, while the path is searched
  return Bytes{kFloat *
               std::max(encoder + kScores * grid, aligned + kCropFrames * of_crop(shape, recompute) + at_work)};
}

Bytes ring_sample_of(const VoiceShape& shape, const ClipLength& clip) {
  return Bytes{kSymbol * clip.symbols + kFloat * shape.mels * clip.frames};
}

}  // namespace tutti
