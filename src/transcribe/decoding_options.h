#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

/// Sampling and suppression, the same for every window of a run.
struct DecodingOptions {
  std::int32_t best_of = 5;                       // samples when the temperature is above zero
  std::int32_t beam_size = 0;                     // beams at temperature zero; 0: the most probable token each time
  double patience = 1;                            // ends a search at beam_size * patience hypotheses, rounded
  double length_penalty = -1;                     // 0 to 1; negative: log-probability per token ranks
  std::vector<std::int32_t> suppress_tokens{-1};  // -1 means the non-speech tokens
  bool suppress_blank = true;
  bool timestamps = true;
  std::int32_t max_initial_timestamp = 50;  // steps of 0.02 s
  std::uint64_t seed = 0;
  bool token_logprobs = false;  // segments have the log-probability of every token of their text
};

}  // namespace tutti
