#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/cpu/matrix/kernels.h"

namespace tutti {

/// Attention of many rows over one sequence's keys and values, every head by itself.
struct AttentionJob {
  at::Tensor q{};       // [rows, heads * size] float32; rows may lie apart
  at::Tensor keys{};    // [heads, length, size] float32 or bfloat16; any strides, but elements side by side
  at::Tensor values{};  // as keys
  /// Row r sees the first visible + r * visible_step of the keys.
  std::int64_t visible = 0;
  std::int64_t visible_step = 0;
  WeightPrecision precision = WeightPrecision::float32;  // precision of the two products: any but int8
};

/// out: [rows, heads * size] float32, contiguous: softmax(q keys^T / sqrt(size)) values. A row's result depends on
/// nothing but the row, the keys and the values. Needs AVX2.
void attend(const AttentionJob& job, at::Tensor& out);

}  // namespace tutti
