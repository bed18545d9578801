#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "train/whisper/network/parameters.h"

namespace tutti {

/// Spells the text along the encoder's positions, trained beside the decoder (connectionist temporal classification,
/// Graves et al. 2006; beside attention: Watanabe et al. 2017). A new decoder attends anywhere at first and learns the
/// language before it learns to use the audio. This head teaches a new encoder from the first step what is spoken, and
/// attention soon finds what the encoder separates. It is no part of the network that is exported.
class CtcHead {
 public:
  /// `width` of the encoder's states; `text_tokens`: the vocabulary without special ones, ids below it.
  CtcHead(std::int64_t width, std::int64_t text_tokens, std::uint64_t seed, at::Device device);

  /// "ctc.weight" [text_tokens + 1, width] and "ctc.bias"; the last row is the blank's.
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// −log p(text | states), summed over the rows: [] float32. `states` [rows, positions, width]; `spelled` [rows,
  /// longest] int64, anything behind a row's end; `lengths` [rows, 2] int64: positions that hold audio, tokens. A row
  /// with more tokens than positions counts as nothing.
  at::Tensor loss_sum(const at::Tensor& states, const at::Tensor& spelled, const at::Tensor& lengths) const;

  /// Cross-entropy of what is spelled where, summed over positions: [] float32. `at_positions` [rows, positions] int64:
  /// the token, blank() for none, kIgnoredTarget (train/labels.h) where nothing is known; blanks count for less, as
  /// they are many. Where the times of characters are known this teaches the encoder in a few hundred steps what CTC
  /// alone, which has to find them first, needs thousands for.
  at::Tensor timed_loss_sum(const at::Tensor& states, const at::Tensor& at_positions) const;

  std::int64_t blank() const { return parameters_[0].value.size(0) - 1; }

 private:
  /// [rows, positions, text_tokens + 1] float32, before softmax.
  at::Tensor scores_of(const at::Tensor& states) const;

  std::vector<Parameter> parameters_;
};

}  // namespace tutti
