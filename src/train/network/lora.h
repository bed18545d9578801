#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/network/parameters.h"

namespace tutti {

/// Low-rank additions to the queries and values of every attention (Hu et al. 2021): the network computes with
/// W + scale * up * down, and only `down` [rank, in] and `up` [out, rank] are trained. `up` begins at 0, so that the
/// first step starts from the stored model.
class LowRankAdditions {
 public:
  /// Freezes every weight of `base`, whose tensors it shares.
  LowRankAdditions(WhisperParameters& base, std::int32_t rank, double alpha, std::uint64_t seed);

  /// The trained tensors, "....q_proj.lora_down" and "....lora_up".
  const std::vector<Parameter>& parameters() const { return trained_; }

  /// The network's weights with the additions in place; with gradients where they are on.
  WhisperWeights merged() const;

 private:
  at::Tensor sum(std::size_t i) const;

  WhisperWeights weights_;
  std::vector<at::Tensor> bases_;  // the i-th is added to by trained_[2 i] (down) and trained_[2 i + 1] (up)
  std::vector<Parameter> trained_;
  double scale_;
};

}  // namespace tutti
