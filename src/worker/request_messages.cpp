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
          .max_tokens = message.max_tokens,
          .decoding = message.decoding};
}

DecodeWindow message_of(const SequenceRequest& request) {
  return {.window = request.window_id,
          .request = request.request,
          .prompt = request.prompt,
          .sot_index = request.sot_index,
          .temperature = request.temperature,
          .max_tokens = request.max_tokens,
          .decoding = request.decoding};
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
