// The batcher over the real network code, in float32 on the CPU.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "decode/batcher.h"

namespace tutti {
namespace {

constexpr WhisperDims kDims{.n_mels = 8,
                            .n_audio_ctx = 30,
                            .n_audio_state = 32,
                            .n_audio_head = 2,
                            .n_audio_layer = 2,
                            .n_vocab = 400,
                            .n_text_ctx = 48,
                            .n_text_state = 32,
                            .n_text_head = 2,
                            .n_text_layer = 2};
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

const WhisperModel& model() {
  at::set_num_threads(1);  // matrices too small to share
  static const auto random = WhisperModel::random(kDims, at::kCPU, at::kFloat);
  return random;
}

/// Differs from the others in window, prompt and its length, temperature and rules.
SequenceRequest job_of(std::uint64_t number) {
  const auto mel = at::sin(at::arange(8 * 60, at::kFloat) * (0.01 * static_cast<double>(number + 1))).view({8, 60});
  SequenceRequest job{.request = number,
                      .temperature = number % 2 == 0 ? 0.0F : 0.9F,
                      .max_tokens = 24,
                      .decoding = {.best_of = 2, .seed = number}};
  job.window = std::make_shared<const CrossKv>(model().cross_kv(model().encode(mel)));
  for (std::uint64_t i = 0; i <= number * 2; ++i)
    job.prompt.push_back(static_cast<std::int32_t>((number * 37 + i * 11) % 300));
  job.decoding.timestamps = number % 3 != 0;
  return job;
}

std::map<std::uint64_t, DecodeOutcome> decode(const std::vector<std::uint64_t>& numbers, std::int32_t slots) {
  ModelStepper stepper(model(), slots);
  Batcher batcher(kTokens, kDims.n_text_ctx, Clock::real());
  for (const auto number : numbers) batcher.submit(job_of(number));
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) outcomes[finished.request] = finished.outcome.value();
  }
  return outcomes;
}

TEST(Neighbours, FourOrEightOfThemChangeNoTokenOfASequence) {
  std::map<std::uint64_t, DecodeOutcome> alone;
  for (std::uint64_t number = 0; number < 9; ++number) alone.merge(decode({number}, 1));
  for (const std::int32_t slots : {5, 9}) {
    const auto together = decode({0, 1, 2, 3, 4, 5, 6, 7, 8}, slots);
    ASSERT_EQ(together.size(), 9U);
    for (const auto& [number, outcome] : together) {
      EXPECT_GT(outcome.steps, 1) << number;
      EXPECT_EQ(outcome.tokens, alone.at(number).tokens) << "job " << number << " on " << slots << " slots";
      EXPECT_NEAR(outcome.sum_logprob, alone.at(number).sum_logprob, 1e-3);
    }
  }
}

TEST(Neighbours, ACopiedSlotGoesOnAsThePrefilledOneDoes) {
  const c10::InferenceMode no_autograd;
  ModelStepper stepper(model(), 2);
  const auto job = job_of(3);
  const SequenceStep prefill{.slot = 0, .tokens = job.prompt, .window = job.window.get()};
  stepper.decode({&prefill, 1});
  const auto length = static_cast<std::int32_t>(job.prompt.size());
  stepper.copy_slot(0, 1, 0, 2);
  stepper.copy_slot(0, 1, 2, length - 2);
  const std::int32_t next = 42;
  const SequenceStep steps[] = {
      {.slot = 0, .position = length, .tokens = {&next, 1}, .window = job.window.get()},
      {.slot = 1, .position = length, .tokens = {&next, 1}, .window = job.window.get()},
  };
  const auto logits = stepper.decode(steps);
  EXPECT_TRUE(at::allclose(logits[0], logits[1], 1e-5, 1e-6));
}

}  // namespace
}  // namespace tutti
