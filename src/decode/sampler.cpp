#include "decode/sampler.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random/counter_random.h"
#include "decode/logit_rules.h"
#include "decode/softmax.h"
#include "model/cpu/row/long_row.h"

namespace tutti {
namespace {

/// The token of `block` at which the running sum passes `target`; where rounding leaves a crumb, the last that is
/// possible at all. Nothing where none is.
std::optional<std::size_t> walk(std::span<const float> block, float largest, float scale, double target) {
  std::optional<std::size_t> possible;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (std::isinf(block[i])) continue;
    possible = i;
    target -= sum_of_exponentials(block.subspan(i, 1), largest, scale);
    if (target < 0) break;
  }
  return possible;
}

/// Where no token is possible, the first.
std::int32_t last_possible(std::span<const float> logits) {
  const auto found = std::find_if(logits.rbegin(), logits.rend(), [](float logit) { return !std::isinf(logit); });
  return found == logits.rend() ? 0 : static_cast<std::int32_t>(logits.rend() - found - 1);
}

/// Inverts the cumulative distribution at `u`: whole blocks first, then token by token inside the one that holds it.
std::int32_t draw(std::span<const float> logits, float largest, float scale, double u) {
  constexpr std::size_t kBlock = 1024;
  double target = u * sum_of_exponentials(logits, largest, scale);
  for (std::size_t start = 0; start < logits.size(); start += kBlock) {
    const auto block = logits.subspan(start, std::min(kBlock, logits.size() - start));
    const double weight = sum_of_exponentials(block, largest, scale);
    if (target < weight) {
      if (const auto found = walk(block, largest, scale, target)) return static_cast<std::int32_t>(start + *found);
    }
    target -= weight;
  }
  return last_possible(logits);  // rounding left a crumb behind the last block
}

}  // namespace

double uniform(const SampleKey& key) {
  const auto bits = split_mixed(split_mixed(split_mixed(key.seed) ^ key.sample) ^ key.step);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

Choice choose(std::span<const float> logits, float temperature, const SampleKey& key) {
  const auto top = top_two(logits);
  const double log_sum = log_sum_exp(logits, top.best);
  if (temperature == 0 || !std::isfinite(log_sum)) {
    return {.token = top.index,
            .logprob = top.best - log_sum,
            .narrow = static_cast<double>(top.best) - top.second < kNarrowMargin};
  }
  const auto token = draw(logits, top.best, 1 / temperature, uniform(key));
  return {.token = token, .logprob = logits[static_cast<std::size_t>(token)] - log_sum};
}

}  // namespace tutti
