#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace tutti {

/// How a forward pass is computed.
struct ForwardOptions {
  double dropout = 0;      // dropout rate of what the network drops while it learns; 0 when evaluating
  bool recompute = false;  // blocks keep their input alone and are computed again for the gradient
};

/// A part of a network with one argument, or with two that both get gradients: [rows, length, width] -> the same.
using NetworkBlock = std::function<at::Tensor(const at::Tensor& x)>;
using NetworkBlockOfTwo = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& y)>;

/// block(x), of which autograd keeps x alone: for the gradient the block is computed again, with the same dropout and
/// the same rounding of products, on whichever thread computes gradients. What the block holds beside its arguments
/// gets its gradients as usual, so it holds tensors and no references. Saves the memory of everything in between and
/// costs one forward pass more. Where no gradient is required, just block(x). Enqueues what the block enqueues.
at::Tensor recomputed(const at::Tensor& x, const NetworkBlock& block);

/// The same with two arguments.
at::Tensor recomputed(const at::Tensor& x, const at::Tensor& y, const NetworkBlockOfTwo& block);

/// The block's output, which is recomputed() where that is wanted.
inline at::Tensor through_block(const at::Tensor& x, const NetworkBlock& block, bool recompute) {
  return recompute ? recomputed(x, block) : block(x);
}
inline at::Tensor through_block(const at::Tensor& x, const at::Tensor& y, const NetworkBlockOfTwo& block,
                                bool recompute) {
  return recompute ? recomputed(x, y, block) : block(x, y);
}

}  // namespace tutti
