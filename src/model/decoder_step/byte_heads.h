#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace tutti {

/// Keys and values of one window in one decoder layer, in eight bits and as a GPU reads them (byte_layout.h); on a CPU,
/// too, so that its path can be checked there. Heads have 64 numbers.
struct ByteHeads {
  std::int64_t positions = 0;
  at::Tensor keys{};    // int8 [heads, byte_head_size(positions)]
  at::Tensor values{};  // as keys
};

/// both: keys and values side by side, [positions, 2 * heads * 64], contiguous. memory: int8 [2, heads,
/// byte_head_size(positions)] to write to, contiguous; undefined for memory of their own. Enqueues only.
std::shared_ptr<const ByteHeads> make_byte_heads(const at::Tensor& both, std::int64_t heads,
                                                 const at::Tensor& memory = {});

/// The first `positions` keys less their mean, [heads, positions, 64] float32.
at::Tensor wide_keys(const ByteHeads& kv, std::int64_t positions);
/// All values, [heads, positions, 64] float32.
at::Tensor wide_values(const ByteHeads& kv);

}  // namespace tutti
