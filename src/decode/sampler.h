#pragma once

#include <cstdint>
#include <span>

namespace tutti {

/// Names one random draw. The same key gives the same number whatever else the process draws, so a sequence does not
/// depend on its neighbours in the batch.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;  // which of best_of
  std::uint64_t step = 0;
};

/// Uniform in [0, 1), 53 bits.
double uniform(const SampleKey& key);

/// One token, chosen.
struct Choice {
  std::int32_t token = 0;
  double logprob = 0;   // un-tempered; NaN where no token is possible or a logit is not a number
  bool narrow = false;  // argmax, and the runner-up lay within kNarrowMargin
};

/// The next token from logits after the rules: the argmax at temperature 0 (the first of equals), else a draw from
/// softmax(logits / temperature). logits: not empty.
Choice choose(std::span<const float> logits, float temperature, const SampleKey& key);

}  // namespace tutti
