#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tutti {

/// One query row over the keys and values of its own sequence.
struct RowAttention {
  std::int64_t row = 0;     // row of q
  at::Tensor keys{};        // [heads, at least length, 64]; positions lie one behind the other, heads anywhere
  at::Tensor values{};      // as keys
  std::int64_t length = 0;  // keys seen
};

/// Whether `attend_rows` can do it: on a CPU with AVX2 at least, heads of 64, keys in float32 or bfloat16.
bool is_row_attention(const at::Tensor& q, const at::Tensor& keys);

/// Attention of single rows on the CPU, all heads of all rows in one parallel loop: a decoder step has many short
/// attentions, each too small to be divided. q: [rows, n] float32, rows may lie apart; out: [rows, n] float32; only the
/// named rows of `out` are written.
void attend_rows(const at::Tensor& q, const std::vector<RowAttention>& rows, at::Tensor& out);

}  // namespace tutti
