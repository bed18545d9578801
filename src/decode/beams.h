#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A live beam and one token more.
struct Continuation {
  std::size_t parent = 0;  // which live beam
  std::int32_t token = 0;
  float sum_logprob = 0;  // log-probability of the whole; NaN where a logit is not a number
  float logprob = 0;      // of the token alone
};

/// What openai-whisper's BeamSearchDecoder (decoding.py) considers of one beam: its `count` likeliest continuations,
/// likeliest first, summed in float32. Fewer where fewer tokens are possible at all; one that is no number where no
/// logit is a number. logits: [n_vocab] after the rules; sum_logprob: of the beam so far.
std::vector<Continuation> likeliest_continuations(std::size_t parent, float sum_logprob, std::span<const float> logits,
                                                  std::int32_t count);

/// What becomes of the beams of one search in one step.
struct BeamRound {
  std::vector<Continuation> live{};   // the next beams, likeliest first
  std::vector<Continuation> ended{};  // those that end here, likeliest first
  bool narrow = false;                // two sums that decided lay within kNarrowMargin of each other
};

/// Ranks the continuations of all beams, in the order of the beams: the likeliest are taken until `beam_size` of them
/// are live; those that end on the way there are set aside. The first of equals comes first.
BeamRound rank(std::vector<Continuation> offered, std::int32_t beam_size, std::int32_t eot);

/// How many ended hypotheses end a search: beam_size * patience, rounded, halves to even.
std::int32_t enough_hypotheses(std::int32_t beam_size, double patience);

}  // namespace tutti
