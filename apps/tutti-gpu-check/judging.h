#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "decode/device_judge.h"

namespace tutti {

/// The judging of greedy sequences in the middle of a text, a row of logits each, as a worker does it behind a step.
class GreedyJudging {
 public:
  explicit GreedyJudging(std::size_t sequences);

  /// logits: [sequences, n_vocab], of a vocabulary of Whisper's. Waits for their device.
  void judge(const at::Tensor& logits);

 private:
  std::vector<Sequence> live_{};
  std::vector<std::int64_t> rows_{};
  std::vector<std::int64_t> no_sot_{};
  DeviceJudge judge_{};
};

}  // namespace tutti
