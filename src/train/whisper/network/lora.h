#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/whisper/network/parameters.h"

namespace tutti {

struct LowRank {
  std::int32_t rank = 8;
  double alpha = 16;  // the additions' scale is this divided by the rank
};

/// Low-rank additions to the queries and values of every attention (Hu et al. 2021): the network computes with
/// W + scale * up * down, and only `down` [rank, in] and `up` [out, rank] are trained. `up` begins at 0, so that the
/// first step starts from the stored model.
class LowRankAdditions {
 public:
  /// Freezes every weight of `base`, whose tensors it shares. With `decoder_alone` the encoder stays as it is stored.
  LowRankAdditions(WhisperParameters& base, LowRank low, bool decoder_alone, std::uint64_t seed);

  /// The trained tensors, "....q_proj.lora_down" and "....lora_up".
  const std::vector<Parameter>& parameters() const { return trained_; }

  /// The network's weights with the additions in place; with gradients where they are on.
  WhisperWeights merged() const;

 private:
  at::Tensor sum(std::size_t i) const;

  WhisperWeights weights_;
  bool decoder_alone_;
  std::vector<at::Tensor> bases_;  // the i-th is added to by trained_[2 i] (down) and trained_[2 i + 1] (up)
  std::vector<Parameter> trained_;
  double scale_;
};

}  // namespace tutti
