#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

namespace tutti {

/// int8 weights err by 0.3 in a logit (tiny.en: 1.1 at most), which turns over near ties: what they say is good enough
/// to tell which tokens could be chosen, and those few are computed exactly. Every logit within this of its row's
/// largest is, about five of a row of real speech.
inline constexpr float kDoubtfulLogits = 3;
/// The most logits of a row that are computed again, where its numbers are nearly equal.
inline constexpr std::size_t kMostDoubtful = 256;

/// Replaces the logits that could be their row's largest by x table^T in float32. logits: [rows, vocab] float32; x:
/// [rows, n] float32, normalised; table: [vocab, n], float32, float16 or bfloat16; all contiguous, on the CPU.
void compute_likeliest(at::Tensor& logits, const at::Tensor& x, const at::Tensor& table);

}  // namespace tutti
