#pragma once

#include <cstdint>
#include <span>

#include "decode/decoding_tokens.h"
#include "link/decoding_options.h"

namespace tutti {

/// How clearly the rules decided. Where sums over the vocabulary decide, another order of adding may decide otherwise.
struct RuleOutcome {
  bool narrow = false;  // "a timestamp now" was won or lost by less than kNarrowMargin
};

/// Differences of float32 logits below this may come out either way on another machine.
inline constexpr double kNarrowMargin = 1e-4;

/// The tokens that the text so far allows next, before any logit is seen: the text ids from `text_from` on, and the
/// times in [time_from, time_to), which may be empty.
struct AllowedTokens {
  std::int32_t text_from = 0;
  std::int32_t time_from = 0;
  std::int32_t time_to = 0;
};

/// The pairs and the order of timestamps (ApplyTimestampRules but for its last rule, which weighs logits).
AllowedTokens allowed_after(std::span<const std::int32_t> sampled, const DecodingOptions& options,
                            const DecodingTokens& tokens, std::int32_t n_vocab);

/// SuppressBlank, if this is the `first` token, SuppressTokens and <|notimestamps|>: ids that may not come after any
/// text.
void forbid_ids(std::span<float> logits, bool first, const DecodingOptions& options, const DecodingTokens& tokens);

/// Sets the logits of every token that may not come next to minus infinity, as openai-whisper 20250625 does:
/// SuppressBlank, SuppressTokens, ApplyTimestampRules (decoding.py), in this order.
/// logits: [n_vocab], changed in place. sampled: the tokens after the prompt so far.
RuleOutcome apply_logit_rules(std::span<float> logits, std::span<const std::int32_t> sampled,
                              const DecodingOptions& options, const DecodingTokens& tokens);

}  // namespace tutti
