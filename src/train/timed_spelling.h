#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "feed/batch.h"
#include "text/tokenizer.h"

namespace tutti {

/// What is spelled at each of the encoder's `positions` (20 ms), for CtcHead::timed_loss_sum: [samples, positions]
/// int64 on the CPU. The tokens of a word end evenly over its time, each filling the three positions around its end; a
/// space that is a token of its own goes before the word. `blank` elsewhere; kNotAsked behind a sample's frames, and
/// for all of a sample with text whose words have no times.
at::Tensor tokens_at_positions(std::span<const BatchSample* const> samples, const Tokenizer& tokenizer,
                               std::int64_t positions, std::int64_t blank);

}  // namespace tutti
