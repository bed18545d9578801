#pragma once

#include <ATen/core/Tensor.h>

namespace tutti::gpu {

/// Adds tensors up over the cards of several processes, card to card. All of them make the same calls in the same
/// order. One thread.
class CardSum {
 public:
  virtual ~CardSum() = default;
  /// Every element becomes its sum over all processes. tensor: contiguous, on our card. Enqueues only. Throws what
  /// torch throws; where another process is lost, it may wait for ever.
  virtual void sum(at::Tensor& tensor) = 0;
};

}  // namespace tutti::gpu
