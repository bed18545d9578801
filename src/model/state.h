#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/compute_type.h"
#include "model/ops.h"
#include "model/weights.h"
#include "model/whisper.h"

namespace tutti {

/// What a WhisperModel holds.
struct WhisperModel::Weights {
  WhisperDims dims{};
  at::Device device = at::kCPU;
  ComputeType type = ComputeType::float32;
  Layout layout{};
  WhisperWeights net{};
};

/// A decoder call laid out as rows, one per token.
struct DecodePlan {
  std::vector<ops::SlotRows> sequences{};
  std::vector<std::int64_t> tokens{};     // per row
  std::vector<std::int64_t> positions{};  // per row
  std::vector<std::int64_t> wanted{};     // rows whose logits are requested
};

/// Throws std::invalid_argument where a slot (below `slots`), position (below `positions`), token or logits_at is out
/// of range.
DecodePlan plan_decoding(std::span<const SequenceStep> sequences, const WhisperDims& dims, std::int64_t slots,
                         std::int64_t positions);

}  // namespace tutti
