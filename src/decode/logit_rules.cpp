#include "decode/logit_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/softmax.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void forbid(std::span<float> logits) {
  std::ranges::fill(logits, kNever);
}

void forbid(std::span<float> logits, std::span<const std::int32_t> ids) {
  for (const auto id : ids) logits[static_cast<std::size_t>(id)] = kNever;
}

/// Text is out as soon as all timestamps together are likelier than the likeliest text token.
RuleOutcome prefer_timestamps(std::span<float> logits, const DecodingTokens& tokens) {
  const auto begin = static_cast<std::size_t>(tokens.timestamp_begin);
  const auto text = logits.first(begin);
  const double best_text = largest(text);
  const double all_times = log_sum_exp(logits.subspan(begin));
  if (all_times > best_text) forbid(text);
  // The difference of two minus infinities is NaN, which is not narrow.
  return {.narrow = std::abs(all_times - best_text) < kNarrowMargin};
}

}  // namespace

AllowedTokens allowed_after(std::span<const std::int32_t> sampled, const DecodingOptions& options,
                            const DecodingTokens& tokens, std::int32_t n_vocab) {
  AllowedTokens allowed{.time_from = tokens.timestamp_begin, .time_to = n_vocab};
  if (!options.timestamps) return allowed;
  const auto is_time = [&](std::int32_t id) { return id >= tokens.timestamp_begin; };
  const auto count = sampled.size();
  if (count == 0) {
    allowed.text_from = tokens.timestamp_begin;
    const std::int64_t past_last = std::int64_t{tokens.timestamp_begin} + options.max_initial_timestamp + 1;
    if (options.max_initial_timestamp >= 0)
      allowed.time_to = static_cast<std::int32_t>(std::min<std::int64_t>(past_last, n_vocab));
    return allowed;
  }
  // Timestamps come in pairs, except directly before the end, and never run backwards.
  const bool last_is_time = is_time(sampled[count - 1]);
  const bool one_before_is_time = count < 2 || is_time(sampled[count - 2]);
  const bool opens_pair = last_is_time && !one_before_is_time;
  if (opens_pair) allowed.text_from = tokens.eot;
  if (last_is_time && one_before_is_time) allowed.time_to = tokens.timestamp_begin;
  const auto latest = std::find_if(sampled.rbegin(), sampled.rend(), is_time);
  // A segment that closes at its own start would loop for ever: only the second half of a pair may repeat the time.
  if (latest != sampled.rend()) allowed.time_from = std::min(opens_pair ? *latest : *latest + 1, n_vocab);
  return allowed;
}

void forbid_ids(std::span<float> logits, bool first, const DecodingOptions& options, const DecodingTokens& tokens) {
  if (first && options.suppress_blank) {
    forbid(logits, tokens.blank);
    forbid(logits, std::span(&tokens.eot, 1));
  }
  forbid(logits, options.suppress_tokens);
  if (options.timestamps && tokens.no_timestamps) forbid(logits, std::span(&*tokens.no_timestamps, 1));
}

RuleOutcome apply_logit_rules(std::span<float> logits, std::span<const std::int32_t> sampled,
                              const DecodingOptions& options, const DecodingTokens& tokens) {
  forbid_ids(logits, sampled.empty(), options, tokens);
  if (!options.timestamps) return {};
  const auto allowed = allowed_after(sampled, options, tokens, static_cast<std::int32_t>(logits.size()));
  const auto begin = static_cast<std::size_t>(tokens.timestamp_begin);
  forbid(logits.first(static_cast<std::size_t>(allowed.text_from)));
  forbid(logits.subspan(begin, static_cast<std::size_t>(allowed.time_from) - begin));
  forbid(logits.subspan(static_cast<std::size_t>(allowed.time_to)));
  return prefer_timestamps(logits, tokens);
}

}  // namespace tutti
