#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace tutti {

/// block(x), of which autograd keeps x alone: for the gradient the block is computed again, with the same dropout. What
/// the block holds beside its arguments gets its gradients as usual. Saves the memory of everything in between and
/// costs one forward pass more. Where no gradient is required, just block(x).
at::Tensor recomputed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& block);

/// The same with two arguments that both get gradients.
at::Tensor recomputed(const at::Tensor& x, const at::Tensor& y,
                      const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& block);

}  // namespace tutti
