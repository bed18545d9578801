#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ops.h"
#include "model/whisper.h"

namespace tutti {

/// A decoder call laid out as rows, one per token.
struct DecodePlan {
  std::vector<ops::SlotRows> sequences{};
  std::vector<std::int64_t> tokens{};     // per row
  std::vector<std::int64_t> positions{};  // per row
  std::vector<std::int64_t> wanted{};     // rows whose logits are requested
};

/// Throws std::invalid_argument where a slot (below `slots`), position, token or logits_at is out of range.
DecodePlan plan_decoding(std::span<const SequenceStep> sequences, const WhisperDims& dims, std::int64_t slots);

}  // namespace tutti
