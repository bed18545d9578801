#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/sequence.h"

namespace tutti {

/// Keys and values to copy from one slot to another before the next step: of tokens [first, first + count).
struct SlotCopy {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// What became of a beam search in one step.
struct BeamStep {
  std::vector<Sequence> live{};  // its next beams, likeliest first; empty once the search has ended
  std::vector<SlotCopy> copies{};
  bool failed = false;  // the logits were not numbers, or no token was possible anywhere
};

/// Moves the beams of one search on by one token, as openai-whisper's BeamSearchDecoder.update and finalize do.
/// beams: all live ones, in order, each with its selection. When the search ends, the request's `finished` holds at
/// least beam_size hypotheses, where so many were possible at all.
///
/// A beam's first continuation stays in its slot; others move to slots whose beams were not continued, which already
/// hold what the two have in common: only the tokens since they parted are copied.
BeamStep step_beams(std::span<const Sequence> beams, std::span<const Selection> selections,
                    const DecodingTokens& tokens, std::int32_t n_text_ctx);

}  // namespace tutti
