#include "worker/request_messages.h"

#include <string>
#include <utility>

namespace tutti {

SequenceRequest request_of(const DecodeWindow& message, std::shared_ptr<const CrossKv> window) {
  return {.window_id = message.window,
          .request = message.request,
          .window = std::move(window),
          .prompt = message.prompt,
          .sot_index = message.sot_index,
          .temperature = message.temperature,
          .best_of = message.best_of,
          .seed = message.seed,
          .beam_size = message.beam_size,
          .patience = message.patience,
          .length_penalty = message.length_penalty,
          .max_tokens = message.max_tokens,
          .token_logprobs = message.token_logprobs,
          .rules = {.suppress_blank = message.suppress_blank,
                    .suppress = message.suppress,
                    .timestamps = message.timestamps,
                    .max_initial_timestamp = message.max_initial_timestamp}};
}

DecodeWindow message_of(const SequenceRequest& request) {
  return {.window = request.window_id,
          .request = request.request,
          .prompt = request.prompt,
          .sot_index = request.sot_index,
          .temperature = request.temperature,
          .best_of = request.best_of,
          .beam_size = request.beam_size,
          .patience = request.patience,
          .length_penalty = request.length_penalty,
          .seed = request.seed,
          .max_tokens = request.max_tokens,
          .suppress = request.rules.suppress,
          .suppress_blank = request.rules.suppress_blank,
          .timestamps = request.rules.timestamps,
          .max_initial_timestamp = request.rules.max_initial_timestamp,
          .token_logprobs = request.token_logprobs};
}

Decoded answer_to(const DecodeResult& result) {
  const auto& outcome = *result.outcome;
  return {.window = result.window_id,
          .request = result.request,
          .tokens = outcome.tokens,
          .sum_logprob = outcome.sum_logprob,
          .avg_logprob = outcome.avg_logprob,
          .no_speech_prob = outcome.no_speech_prob,
          .steps = outcome.steps,
          .narrow_margins = outcome.narrow_margins,
          .seconds = outcome.share.time.count(),
          .shared_steps = outcome.share.steps,
          .sequence_steps = outcome.share.sequence_steps,
          .token_logprobs = outcome.token_logprobs};
}

Failed failure_of(WindowId window, std::uint64_t request, const Error& error) {
  return {.window = window, .request = request, .fault = error.fault, .what = error.text()};
}

Error no_such_window(WindowId id) {
  return {.fault = Fault::usage, .what = "window " + std::to_string(id) + " is not open"};
}

}  // namespace tutti
