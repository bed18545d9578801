#pragma once

#include "model/ops.h"

namespace tutti::cpu_ops {

// The operators of ops.h on a CPU with AVX2: activations are float32, layers packed, keys and values float32 or
// bfloat16.

/// Whether attention of these rows is ours: on the CPU, in float32, with AVX2.
bool can_attend(const at::Tensor& q);

at::Tensor convolve(const at::Tensor& mel, const ops::Conv& first, const ops::Conv& second,
                    const at::Tensor& positional);
at::Tensor layer_norm(const at::Tensor& x, const ops::Norm& norm);
/// norm: none for a null pointer.
at::Tensor linear(const at::Tensor& x, const ops::Norm* norm, const ops::Linear& layer);
at::Tensor logits(const at::Tensor& x, const ops::Norm& norm, const ops::Linear& embedding, const at::Tensor& table);
void add_linear(at::Tensor& x, const at::Tensor& y, const ops::Linear& layer);
void add_mlp(at::Tensor& x, const ops::Norm& norm, const ops::Linear& in, const ops::Linear& out);
at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, at::ScalarType type);
at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const ops::SlotRows> sequences);
at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const ops::SlotRows> sequences);

}  // namespace tutti::cpu_ops
