#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "feed/batch.h"
#include "text/tokenizer.h"
#include "train/whisper/labels.h"

namespace tutti {

/// What is spelled at each of the encoder's `positions` (20 ms), for CtcHead::timed_loss_sum: [samples, positions]
/// int64 on the CPU. The tokens of a word end evenly over its time, each filling the three positions around its end; a
/// space that is a token of its own goes before the word. `blank` elsewhere; kIgnoredTarget behind a sample's frames,
/// and for all of a sample with text whose words have no times.
at::Tensor tokens_at_positions(std::span<const BatchSample* const> samples, const Tokenizer& tokenizer,
                               std::int64_t positions, std::int64_t blank);

/// Where each target token of `rows` is in the audio, for attention_loss_sum: [samples, longest row, 2] int64 on the
/// CPU, the first position and the one behind the last, 40 ms of margin included; -1 for tokens that are no text, and
/// for all of a row whose words have no times or do not spell its text.
at::Tensor positions_of_tokens(std::span<const BatchSample* const> samples, std::span<const LabelRow> rows,
                               const Tokenizer& tokenizer, std::int64_t positions);

/// How little of their attention tokens spend on their own audio: minus the logarithm of that share, summed over the
/// tokens whose positions are known: [] float32. `watched`: what `decode` has put there; the mean of its layers.
/// (Guided attention: Tachibana et al. 2018, there by a diagonal; here the positions are known.)
at::Tensor attention_loss_sum(const std::vector<at::Tensor>& watched, const at::Tensor& positions);

}  // namespace tutti
