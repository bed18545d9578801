#include "decode/beams.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/logit_rules.h"
#include "decode/softmax.h"

namespace tutti {

std::vector<Continuation> likeliest_continuations(std::size_t parent, float sum_logprob, std::span<const float> logits,
                                                  std::int32_t count) {
  const auto tokens = largest_positions(logits, static_cast<std::size_t>(count));
  std::vector<Continuation> found;
  if (tokens.empty()) {
    constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
    const bool are_numbers = std::ranges::none_of(logits, [](float logit) { return std::isnan(logit); });
    if (!are_numbers) found.push_back({.parent = parent, .sum_logprob = kNoNumber});
    return found;
  }
  const double log_sum = log_sum_exp(logits, logits[static_cast<std::size_t>(tokens.front())]);
  for (const auto token : tokens) {
    const auto logprob = static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(token)]) - log_sum);
    found.push_back({.parent = parent, .token = token, .sum_logprob = sum_logprob + logprob, .logprob = logprob});
  }
  return found;
}

BeamRound rank(std::vector<Continuation> offered, std::int32_t beam_size, std::int32_t eot) {
  std::ranges::stable_sort(offered, std::ranges::greater{}, &Continuation::sum_logprob);
  BeamRound round;
  for (auto next = offered.begin(); next != offered.end(); ++next) {
    const auto after = std::next(next);
    // The last one taken against the first one left counts, too.
    round.narrow |= after != offered.end() && next->sum_logprob - after->sum_logprob < kNarrowMargin;
    (next->token == eot ? round.ended : round.live).push_back(*next);
    if (round.live.size() == static_cast<std::size_t>(beam_size)) break;
  }
  return round;
}

std::int32_t enough_hypotheses(std::int32_t beam_size, double patience) {
  return static_cast<std::int32_t>(std::nearbyint(beam_size * patience));
}

}  // namespace tutti
