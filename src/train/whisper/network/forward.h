#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/weights.h"
#include "train/recompute.h"

namespace tutti {

/// The differentiable Whisper: plain tensor operations over named weights, so that autograd sees all of it. The
/// arithmetic is the reference's (openai-whisper 20250625, model.py) and equals `WhisperModel` in float32. Weights and
/// inputs are on one device; enqueues only.
///
/// Of the options, dropout is of the embeddings and of every branch's output; what is computed again are the encoder's
/// and the decoder's blocks, one at a time.
///
/// mel: [batch, n_mels, frames], frames even -> [batch, frames / 2, n]. Shorter than the model's window: the positions
/// are sliced.
at::Tensor encode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& mel,
                  const ForwardOptions& options);

/// tokens: [batch, length] int64; context: what `encode` gave -> logits [batch, length, n_vocab]; of every position,
/// over itself and what is before it.
///
/// `watched`: gets, for each layer, where head 0 of its cross-attention looks: [batch, length, positions], logarithms
/// of shares that add up to one; these layers are not computed again.
at::Tensor decode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& tokens,
                  const at::Tensor& context, const ForwardOptions& options, std::vector<at::Tensor>* watched = nullptr);

}  // namespace tutti
