#pragma once

#include "model/ops.h"

namespace tutti::torch_ops {

// The operators of ops.h by torch, on whatever device the tensors are.

/// mel: [windows, in, frames].
at::Tensor convolve(const at::Tensor& mel, const ops::Conv& first, const ops::Conv& second,
                    const at::Tensor& positional);
at::Tensor layer_norm(const at::Tensor& x, const ops::Norm& norm);
at::Tensor linear(const at::Tensor& x, const ops::Linear& layer);
void add_mlp(at::Tensor& x, const ops::Norm& norm, const ops::Linear& in, const ops::Linear& out);
at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, std::int64_t windows);
void append(at::Tensor& cache, const at::Tensor& k, std::span<const ops::SlotRows> sequences);
at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const ops::SlotRows> sequences);
at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const ops::SlotRows> sequences);

}  // namespace tutti::torch_ops
