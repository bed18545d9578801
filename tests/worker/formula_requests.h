#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "decode/batcher.h"
#include "worker/worker_harness.h"

namespace tutti {

/// Two bins and `frames` frames, the first value naming the window.
inline std::vector<float> mel_of(int name, std::int32_t frames = 10) {
  std::vector<float> mel(static_cast<std::size_t>(2 * frames), 0.5F);
  mel[0] = static_cast<float>(name);
  return mel;
}

inline DecodeWindow request_of(WindowId window, std::uint64_t request) {
  return {.window = window,
          .request = request,
          .prompt = {1, 2, static_cast<std::int32_t>(request % 50)},
          .sot_index = 1,
          .temperature = request % 2 == 0 ? 0.0F : 0.7F,
          .max_tokens = 30,
          .decoding = {.best_of = 3, .seed = request}};
}

/// What the request must give: the batcher alone, on one slot.
inline DecodeOutcome expected(int name, const DecodeWindow& request) {
  FormulaStepper stepper(std::max(1, request.decoding.beams()), kScriptDims.n_vocab, kScriptTokens, true);
  Batcher batcher(kScriptTokens, kScriptDims.n_text_ctx, Clock::real());
  batcher.submit({.window = formula_window(static_cast<std::size_t>(name)),
                  .prompt = request.prompt,
                  .sot_index = request.sot_index,
                  .temperature = request.temperature,
                  .max_tokens = request.max_tokens,
                  .decoding = request.decoding});
  for (;;) {
    for (auto& finished : batcher.step(stepper)) return *finished.outcome;
  }
}

inline void expect_answer(const Decoded& answer, int name, const DecodeWindow& request) {
  const auto wanted = expected(name, request);
  EXPECT_EQ(answer.window, request.window);
  EXPECT_EQ(answer.tokens, wanted.tokens);
  EXPECT_EQ(answer.sum_logprob, wanted.sum_logprob);
  EXPECT_EQ(answer.avg_logprob, wanted.avg_logprob);
  EXPECT_EQ(answer.no_speech_prob, wanted.no_speech_prob);
  EXPECT_EQ(answer.steps, wanted.steps);
}

}  // namespace tutti
