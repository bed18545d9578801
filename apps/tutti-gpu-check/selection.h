#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "decode/device_token_selector.h"

namespace tutti {

/// The token selection of greedy sequences in the middle of a text, a row of logits each, as a worker does it behind a
/// step.
class GreedySelection {
 public:
  explicit GreedySelection(std::size_t sequences);

  /// logits: [sequences, n_vocab], of a vocabulary of Whisper's. Waits for their device.
  void select_tokens(const at::Tensor& logits);

 private:
  std::vector<Sequence> live_{};
  std::vector<std::int64_t> rows_{};
  std::vector<std::int64_t> no_sot_{};
  DeviceTokenSelector selector_{};
};

}  // namespace tutti
