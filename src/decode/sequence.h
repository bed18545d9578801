#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "decode/beams.h"
#include "decode/decoding_tokens.h"
#include "decode/sampler.h"
#include "decode/sequence_request.h"

namespace tutti {

/// A sequence that reached its end, or as much of it as there is.
struct Sample {
  std::vector<std::int32_t> tokens{};  // without end-of-text
  double sum_logprob = 0;
  std::int32_t steps = 0;
  std::int32_t narrow_margins = 0;
  std::vector<float> token_logprobs{};  // of every step, where the request has them
};

/// The reference's choice among samples or hypotheses (MaximumLikelihoodRanker): the highest sum_logprob per token, or
/// by the penalty of `decoding`; the first of equals. samples: not empty.
std::size_t likeliest(std::span<const Sample> samples, const DecodingOptions& decoding);

/// One of the slots that a beam search holds, and the sampled tokens whose keys and values are in it.
struct BeamSlot {
  std::int32_t slot = 0;
  bool filled = false;  // the prompt is in it
  std::vector<std::int32_t> held{};
};

/// A request on its way: what its sequences have in common.
struct RequestProgress {
  SequenceRequest job{};
  BatchShare share{};  // until now
  float no_speech_prob = 0;
  std::vector<Sample> finished{};  // samples by index, filled as they end; or the hypotheses that ended
  std::int32_t missing = 0;        // samples not yet ended; 1 while a beam search goes on
  std::vector<BeamSlot> slots{};   // slots of a beam search that was admitted
};

/// One sample of one request, or one beam, in a slot or waiting for one. A beam search enters as one sequence.
struct Sequence {
  std::shared_ptr<RequestProgress> of{};
  std::int32_t index = 0;  // which of best_of
  std::int32_t slot = -1;
  Sample sample{};

  bool entering() const { return sample.steps == 0; }
  bool is_beam() const { return of->job.searches_beams(); }
  /// Tokens whose keys and values are in the slot before the next step; the newest token is not among them.
  std::int32_t position() const;
  /// What the next decoder step appends: the prompt when entering, then the newest token.
  std::span<const std::int32_t> pending() const;
};

/// Names the draw of a sequence's next token.
SampleKey draw_key(const Sequence& sequence);

/// What the logits say of the next token of one sequence.
struct Selection {
  std::optional<float> no_speech_prob{};      // where the prompt's logits were among them
  Choice choice{};                            // choice for a sample
  std::vector<Continuation> continuations{};  // continuations of a beam; the parent is for the caller to name
  bool narrow = false;                        // it could have come out otherwise
};

/// Applies the rules to the logits after the newest token ([n_vocab], changed) and selects the next one. at_sot: those
/// after start-of-transcript, which may be the same row; empty where there are none. Thread-safe for different
/// sequences.
Selection select_token(const Sequence& sequence, std::span<float> newest, std::span<const float> at_sot,
                       const DecodingTokens& tokens);

/// Takes the chosen token. True once the sample has ended: at end-of-text, at max_tokens, or when it outgrows the text
/// context.
bool advance(Sequence& sequence, const Selection& selection, const DecodingTokens& tokens, std::int32_t n_text_ctx);

/// Whether a sample may not grow any further.
bool is_full(const Sample& sample, const SequenceRequest& job, std::int32_t n_text_ctx);

}  // namespace tutti
