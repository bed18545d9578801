#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "train/classifier/network.h"

namespace tutti {

/// How far answers are from the truth.
struct ClassifierLoss {
  at::Tensor label_weights{};       // [labels] float32
  double label_smoothing = 0;       // share of the certainty that is spread over all labels
  bool is_focal = false;            // alpha (1 - p)^gamma times the cross-entropy, p the truth's probability
  double focal_gamma = 2;           // these two as note 003 has them
  double focal_alpha = 0.75;
  std::int64_t against = -1;        // the label of the second head; -1: there is none
  double against_weight = 0.3;      // of that head's binary cross-entropy
};

/// The loss of rows, summed over them: [] float32. `labels`: [rows] int64, on the logits' device.
at::Tensor loss_sum_of(const ClassifierLoss& loss, const ClassifierLogits& logits, const at::Tensor& labels);

}  // namespace tutti
