#include "decode/sequence.h"

#include <algorithm>

#include "decode/sampler.h"

namespace tutti {

std::size_t likeliest(std::span<const Sample> samples) {
  const auto score = [](const Sample& sample) {
    // The reference divides by zero tokens; one that is nothing but end-of-text is judged by that one token here.
    return sample.sum_logprob / static_cast<double>(std::max<std::size_t>(sample.tokens.size(), 1));
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

bool advance(Sequence& sequence, std::span<float> logits, const DecodingTokens& tokens, std::int32_t n_text_ctx) {
  const auto& job = sequence.of->job;
  auto& sample = sequence.sample;
  const auto rules = apply_logit_rules(logits, sample.tokens, job.rules, tokens);
  const SampleKey key{.seed = job.seed,
                      .sample = static_cast<std::uint64_t>(sequence.index),
                      .step = static_cast<std::uint64_t>(sample.steps)};
  const auto choice = choose(logits, job.temperature, key);

  ++sample.steps;
  sample.sum_logprob += choice.logprob;
  sample.narrow_margins += rules.narrow || choice.narrow ? 1 : 0;
  if (choice.token == tokens.eot) return true;
  sample.tokens.push_back(choice.token);
  const auto length = static_cast<std::int64_t>(job.prompt.size() + sample.tokens.size());
  return sample.steps >= job.max_tokens || length > n_text_ctx;
}

}  // namespace tutti
