#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "link/decoding_options.h"
#include "model/whisper.h"

namespace tutti {

/// One decoding of one window at one temperature. Fallback is the same window in another request.
struct SequenceRequest {
  std::uint64_t window_id = 0;
  std::uint64_t request = 0;                // the caller's name for it
  std::shared_ptr<const CrossKv> window{};  // kept alive by the request
  std::vector<std::int32_t> prompt{};       // everything before the first sampled token
  std::int32_t sot_index = 0;               // where the start-of-transcript token is in `prompt`
  float temperature = 0;                    // 0: beams or argmax; above: samples
  std::int32_t max_tokens = 224;            // sampled tokens at most
  DecodingOptions decoding{};               // with resolved tokens

  bool searches_beams() const { return temperature == 0 && decoding.beams() > 0; }
  /// Independent, each a sequence of its own.
  std::int32_t samples() const { return temperature == 0 ? 1 : decoding.best_of.value_or(1); }
  /// Slots it must have all at once, or it cannot begin.
  std::int32_t slots() const { return searches_beams() ? decoding.beams() : 1; }
};

/// What a request took of the batches it was stepped in; the shares of all requests add up to the batches.
struct BatchShare {
  Seconds time{};                   // 1/N of a step's for each of N sequences
  double steps = 0;                 // likewise
  std::int32_t sequence_steps = 0;  // decoder steps of all its samples or beams
};

/// What came out; the fields mean what openai-whisper's DecodingResult means by them.
struct DecodeOutcome {
  std::vector<std::int32_t> tokens{};  // sampled, closing end-of-text removed
  double sum_logprob = 0;              // sum over the sampled tokens, end-of-text included, un-tempered
  double avg_logprob = 0;              // sum_logprob / (tokens + 1)
  float no_speech_prob = 0;            // NaN where the vocabulary has no such token
  std::int32_t steps = 0;              // decoder steps until the chosen sample or hypothesis ended
  std::int32_t narrow_margins = 0;     // those of them that could have come out otherwise
  /// Where they were requested: of every token, then of end-of-text if the text ended; their sum is sum_logprob.
  std::vector<float> token_logprobs{};
  BatchShare share{};
};

/// An error names what is wrong with a request before it reaches the model: ids outside the vocabulary, a prompt that
/// does not fit. text_positions: tokens that a slot holds, 0: n_text_ctx. Where these are fewer than the model's, so is
/// a request whose prompt and max_tokens together may outgrow them: it would end earlier than with the model's.
Result<void> check(const SequenceRequest& job, const WhisperDims& dims, std::int32_t text_positions = 0);

}  // namespace tutti
