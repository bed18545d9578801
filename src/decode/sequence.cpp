#include "decode/sequence.h"

#include <algorithm>
#include <cmath>

#include "decode/logit_rules.h"
#include "decode/softmax.h"

namespace tutti {

std::size_t likeliest(std::span<const Sample> samples, const DecodingOptions& decoding) {
  const double penalty = decoding.length_penalty.value_or(-1);
  const auto score = [&](const Sample& sample) {
    const auto length = static_cast<double>(sample.tokens.size());
    if (penalty >= 0) return sample.sum_logprob / std::pow((5 + length) / 6, penalty);
    // The reference divides by zero tokens; one that is nothing but end-of-text is ranked by that one token here.
    return sample.sum_logprob / std::max(length, 1.0);
  };
  return static_cast<std::size_t>(std::ranges::max_element(samples, {}, score) - samples.begin());
}

std::int32_t Sequence::position() const {
  if (entering()) return 0;
  return static_cast<std::int32_t>(of->job.prompt.size() + sample.tokens.size()) - 1;
}

std::span<const std::int32_t> Sequence::pending() const {
  if (entering()) return of->job.prompt;
  return std::span(sample.tokens).last(1);
}

SampleKey draw_key(const Sequence& sequence) {
  return {.seed = sequence.of->job.decoding.seed,
          .sample = static_cast<std::uint64_t>(sequence.index),
          .step = static_cast<std::uint64_t>(sequence.sample.steps)};
}

Selection select_token(const Sequence& sequence, std::span<float> newest, std::span<const float> at_sot,
                       const DecodingTokens& tokens) {
  const auto& job = sequence.of->job;
  const auto& sample = sequence.sample;
  Selection selection;
  // Before the rules change what may be the same row.
  if (!at_sot.empty() && tokens.no_speech) selection.no_speech_prob = softmax_at(at_sot, *tokens.no_speech);
  selection.narrow = apply_logit_rules(newest, sample.tokens, job.decoding, tokens).narrow;
  if (sequence.is_beam()) {
    // One more than there are beams: end-of-text may be among them and is no beam any more.
    selection.continuations =
        likeliest_continuations(0, static_cast<float>(sample.sum_logprob), newest, job.decoding.beams() + 1);
  } else {
    selection.choice = choose(newest, job.temperature, draw_key(sequence));
    selection.narrow = selection.narrow || selection.choice.narrow;
  }
  return selection;
}

bool advance(Sequence& sequence, const Selection& selection, const DecodingTokens& tokens, std::int32_t n_text_ctx) {
  auto& sample = sequence.sample;
  ++sample.steps;
  sample.sum_logprob += selection.choice.logprob;
  if (sequence.of->job.decoding.token_logprobs)
    sample.token_logprobs.push_back(static_cast<float>(selection.choice.logprob));
  sample.narrow_margins += selection.narrow ? 1 : 0;
  if (selection.choice.token == tokens.eot) return true;
  sample.tokens.push_back(selection.choice.token);
  return is_full(sample, sequence.of->job, n_text_ctx);
}

bool is_full(const Sample& sample, const SequenceRequest& job, std::int32_t n_text_ctx) {
  const auto length = static_cast<std::int64_t>(job.prompt.size() + sample.tokens.size());
  return sample.steps >= job.max_tokens || length > n_text_ctx;
}

}  // namespace tutti
