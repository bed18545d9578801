#pragma once

#include <ATen/core/Tensor.h>

namespace tutti {

/// int8 weights err by a few tenths in a logit, which turns over near ties: what they say is good enough to tell which
/// tokens could be chosen, and those few are computed exactly. Every logit within this of its row's largest is.
inline constexpr float kDoubtfulLogits = 3;

/// Replaces the logits that could be their row's largest by x table^T in float32. logits: [rows, vocab] float32; x:
/// [rows, n] float32, normalised; table: [vocab, n], float32, float16 or bfloat16; all contiguous, on the CPU.
void compute_likeliest(at::Tensor& logits, const at::Tensor& x, const at::Tensor& table);

}  // namespace tutti
