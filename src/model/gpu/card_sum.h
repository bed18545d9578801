#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace tutti::gpu {

/// Adds tensors up over the GPUs of several processes, GPU to GPU. All of them make the same calls in the same
/// order. One thread, but for is_pending().
class CardSum {
 public:
  virtual ~CardSum() = default;
  /// Every element becomes its sum over all processes. tensor: contiguous, on our GPU. Enqueues only. Throws what
  /// torch throws; where another process is lost, the stream may never go on.
  virtual void sum(at::Tensor& tensor) = 0;
  /// Whether the newest sum has yet to end. Any thread.
  virtual bool is_pending() const = 0;
};

// As gpu.h has them; throw what torch throws.
std::string card_sum_key_cuda();
std::shared_ptr<CardSum> make_card_sum_cuda(int index, const std::string& key, int rank, int ranks);

}  // namespace tutti::gpu
