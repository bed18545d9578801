#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "decode/job.h"

namespace tutti {

/// A sequence that reached its end.
struct Sample {
  std::vector<std::int32_t> tokens{};  // without end-of-text
  double sum_logprob = 0;
  std::int32_t steps = 0;
  std::int32_t narrow_margins = 0;
};

/// The reference's choice among best_of samples (MaximumLikelihoodRanker without length penalty): the highest
/// sum_logprob per token, the first of equals. samples: not empty.
std::size_t likeliest(std::span<const Sample> samples);

/// A job on its way: what its samples have in common.
struct JobProgress {
  DecodeJob job{};
  Clock::Instant submitted{};
  float no_speech_prob = 0;
  std::vector<Sample> finished{};  // by sample index; filled as they end
  std::int32_t missing = 0;        // samples not yet ended
};

/// One sample of one job, in a slot or waiting for one.
struct Sequence {
  std::shared_ptr<JobProgress> of{};
  std::int32_t index = 0;  // which of best_of
  std::int32_t slot = -1;
  Sample sample{};

  bool entering() const { return sample.steps == 0; }
  /// Tokens whose keys and values lie in the slot before the next step; the newest token is not among them.
  std::int32_t position() const;
  /// What the next decoder step appends: the prompt when entering, then the newest token.
  std::span<const std::int32_t> pending() const;
};

/// Takes the next token from the logits after the newest one ([n_vocab], changed). True once the sequence has ended: at
/// end-of-text, at max_tokens, or when it outgrows the text context.
bool advance(Sequence& sequence, std::span<float> logits, const DecodingTokens& tokens, std::int32_t n_text_ctx);

}  // namespace tutti
