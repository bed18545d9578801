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

/// Timestamps come in pairs, except directly before the end, and never run backwards.
void pair_and_order(std::span<float> logits, std::span<const std::int32_t> sampled, const DecodingTokens& tokens) {
  const auto begin = static_cast<std::size_t>(tokens.timestamp_begin);
  const auto is_time = [&](std::int32_t id) { return id >= tokens.timestamp_begin; };
  const auto count = sampled.size();
  const bool last_is_time = count >= 1 && is_time(sampled[count - 1]);
  const bool one_before_is_time = count < 2 || is_time(sampled[count - 2]);
  const bool opens_pair = last_is_time && !one_before_is_time;

  if (opens_pair) forbid(logits.first(static_cast<std::size_t>(tokens.eot)));
  if (last_is_time && one_before_is_time) forbid(logits.subspan(begin));

  const auto latest = std::find_if(sampled.rbegin(), sampled.rend(), is_time);
  if (latest == sampled.rend()) return;
  // A segment that closes at its own start would loop for ever: only the second half of a pair may repeat the time.
  const auto first_allowed = static_cast<std::size_t>(opens_pair ? *latest : *latest + 1);
  forbid(logits.subspan(begin, std::min(first_allowed, logits.size()) - begin));
}

void begin_with_timestamp(std::span<float> logits, const RuleOptions& options, const DecodingTokens& tokens) {
  const auto begin = static_cast<std::size_t>(tokens.timestamp_begin);
  forbid(logits.first(begin));
  if (options.max_initial_timestamp < 0) return;
  const auto past_last = begin + static_cast<std::size_t>(options.max_initial_timestamp) + 1;
  if (past_last < logits.size()) forbid(logits.subspan(past_last));
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

RuleOutcome apply_logit_rules(std::span<float> logits, std::span<const std::int32_t> sampled,
                              const RuleOptions& options, const DecodingTokens& tokens) {
  if (options.suppress_blank && sampled.empty()) {
    forbid(logits, tokens.blank);
    forbid(logits, std::span(&tokens.eot, 1));
  }
  forbid(logits, options.suppress);
  if (!options.timestamps) return {};

  if (tokens.no_timestamps) forbid(logits, std::span(&*tokens.no_timestamps, 1));
  pair_and_order(logits, sampled, tokens);
  if (sampled.empty()) begin_with_timestamp(logits, options, tokens);
  return prefer_timestamps(logits, tokens);
}

}  // namespace tutti
