#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace tutti {

struct ByteKv;

/// What one decoder layer keeps of a window for its cross-attention: keys and values of all heads.
struct CrossLayer {
  at::Tensor keys{};    // [heads, positions, d_head] in the model's cache type; undefined where `bytes` holds them
  at::Tensor values{};  // as keys
  std::shared_ptr<const ByteKv> bytes{};  // both in eight bits, as the CPU's kernels want them
};

}  // namespace tutti
