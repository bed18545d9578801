#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace tutti {

/// The operators of the hot path: all that Whisper's arithmetic asks of a tensor library. The network (encoder.cpp,
/// decoder.cpp) calls nothing else, so that each can be replaced alone. Floating-point tensors of one call share dtype
/// and device; a result is contiguous unless said otherwise. Callers hold a c10::InferenceMode guard. Enqueues only.
namespace ops {

/// y = x weight^T + bias. weight: [out, in]; bias: [out], or undefined for none.
struct Linear {
  at::Tensor weight{};
  at::Tensor bias{};
};

struct Norm {
  at::Tensor weight{};  // [n]
  at::Tensor bias{};    // [n]
};

/// weight: [out, in, 3]; bias: [out]. One position of zero padding at either end.
struct Conv {
  at::Tensor weight{};
  at::Tensor bias{};
};

/// Consecutive rows of a decoder call that belong to one sequence.
struct SlotRows {
  std::int64_t slot = 0;      // row of the KV cache
  std::int64_t position = 0;  // tokens the slot held before
  std::int64_t first = 0;     // first row in the call
  std::int64_t count = 0;     // one in a step, the whole prompt in a prefill
};

/// x: [rows, in] -> [rows, out].
at::Tensor linear(const at::Tensor& x, const Linear& layer);

/// x += y, both [rows, n].
void add(at::Tensor& x, const at::Tensor& y);

/// x: [rows, n] -> [rows, n]; epsilon 1e-5, statistics in float32.
at::Tensor layer_norm(const at::Tensor& x, const Norm& norm);

/// gelu(linear(x)), with the exact (erf) form of GELU.
at::Tensor linear_gelu(const at::Tensor& x, const Linear& layer);

/// x: [in, frames] -> gelu of the convolution, [out, frames / stride rounded up].
at::Tensor conv_gelu(const at::Tensor& x, const Conv& conv, std::int64_t stride);

/// x: [n, positions] -> x^T + positional, [positions, n].
at::Tensor transpose_and_add(const at::Tensor& x, const at::Tensor& positional);

/// Every position sees every other. q, k, v: [positions, n] -> [positions, n]. Scaled by 1 / sqrt(n / heads).
at::Tensor window_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads);

/// x: [positions, n] -> [heads, positions, n / heads].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// Row r: tokens[r] of the embedding plus positions[r] of the positional table. Both index lists lie on the CPU.
at::Tensor embed(const at::Tensor& embedding, const at::Tensor& positional, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions);

/// Writes rows of k: [rows, n] behind what each slot holds. cache: [slots, heads, positions, n / heads].
void append(at::Tensor& cache, const at::Tensor& k, std::span<const SlotRows> sequences);

/// Causal attention of every row over its own slot, its own row included. q: [rows, n] -> [rows, n].
at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences);

/// Attention of every row over its sequence's window: keys[i] and values[i], [heads, positions, n / heads], belong to
/// sequences[i]. q: [rows, n] -> [rows, n].
at::Tensor cross_attention(const at::Tensor& q, std::span<const at::Tensor> keys, std::span<const at::Tensor> values,
                           std::span<const SlotRows> sequences);

/// How strongly rows look at a window's positions, before the softmax: of each named head q k^T / sqrt(n / heads).
/// q: [rows, n]; keys: [heads, positions, n / heads] -> [chosen, rows, positions] float32.
at::Tensor attention_scores(const at::Tensor& q, const at::Tensor& keys, std::span<const std::int64_t> chosen);

/// The named rows of x, in that order.
at::Tensor select_rows(const at::Tensor& x, std::span<const std::int64_t> rows);

/// x: [rows, n], embedding: [vocab, n] -> x embedding^T, [rows, vocab] float32.
at::Tensor logits(const at::Tensor& x, const at::Tensor& embedding);

}  // namespace ops
}  // namespace tutti
