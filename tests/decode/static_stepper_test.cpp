// The batcher over static decoder steps, as a GPU makes them, with the kernels' host versions.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "base/log.h"
#include "decode/batcher.h"
#include "decode/fixed_shapes.h"

namespace tutti {
namespace {

constexpr WhisperDims kDims{.n_mels = 8,
                            .n_audio_ctx = 30,
                            .n_audio_state = 64,
                            .n_audio_head = 1,
                            .n_audio_layer = 1,
                            .n_vocab = 400,
                            .n_text_ctx = 48,
                            .n_text_state = 64,
                            .n_text_head = 1,
                            .n_text_layer = 2};
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

// With AVX2 MKL adds up a row's products in an order that depends on the row's index, unless this is set before its
// first use. The subject here is the code around the products.
[[maybe_unused]] const bool kOneOrder = ::setenv("MKL_CBWR", "COMPATIBLE", /*overwrite=*/1) == 0;

/// On a CPU float16 is the path of a GPU, computed in float32.
const WhisperModel& model() {
  at::set_num_threads(1);  // matrices too small to share
  static const auto random = [] {
    at::manual_seed(4);
    return WhisperModel::random(kDims, at::kCPU, ComputeType::float16);
  }();
  return random;
}

/// Samples, single choices and searches with beams, each with a window and prompt of its own.
SequenceRequest job_of(std::uint64_t number) {
  const auto mel = at::sin(at::arange(8 * 60, at::kFloat) * (0.01 * static_cast<double>(number + 1))).view({8, 60});
  SequenceRequest job{.request = number,
                      .temperature = number % 3 == 1 ? 0.9F : 0.0F,
                      .max_tokens = 16,
                      .decoding = {.best_of = 2, .seed = number}};
  job.decoding.beam_size = number % 3 == 2 ? 3 : 0;
  job.window = std::make_shared<const CrossKv>(model().cross_kv(model().encode(mel)));
  for (std::uint64_t i = 0; i <= number * 2; ++i) {
    job.prompt.push_back(static_cast<std::int32_t>((number * 37 + i * 11) % 300));
  }
  return job;
}

std::map<std::uint64_t, DecodeOutcome> decode(const std::vector<std::uint64_t>& numbers, Stepper& stepper) {
  Batcher batcher(kTokens, kDims.n_text_ctx, Clock::real());
  for (const auto number : numbers) batcher.submit(job_of(number));
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) outcomes[finished.request] = finished.outcome.value();
  }
  return outcomes;
}

TEST(StaticStepper, GivesEverySampleAndSearchTheTextThatTorchsOperatorsGive) {
  const StepDevice device;
  for (const std::int32_t slots : {3, 7, 12}) {
    ModelStepper eager(model(), slots), fixed(model(), slots, device);
    const auto wanted = decode({0, 1, 2, 3, 4, 5, 6, 7, 8}, eager);
    const auto found = decode({0, 1, 2, 3, 4, 5, 6, 7, 8}, fixed);
    ASSERT_EQ(found.size(), 9U);
    for (const auto& [number, outcome] : found) {
      EXPECT_GT(outcome.steps, 1) << number;
      EXPECT_EQ(outcome.tokens, wanted.at(number).tokens) << "job " << number << " on " << slots << " slots";
      EXPECT_NEAR(outcome.sum_logprob, wanted.at(number).sum_logprob, 1e-3);
    }
  }
  EXPECT_TRUE(device.trust->kernels) << "it was torch that answered";
}

/// As on a GPU, where tokens are selected on the device.
struct SelectedOnDevice : ModelStepper {
  using ModelStepper::ModelStepper;
  bool selects_on_device() const override { return true; }
};

TEST(StaticStepper, SelectionOnDeviceGivesTheSameTexts) {
  ModelStepper eager(model(), 7);
  SelectedOnDevice fixed(model(), 7, StepDevice{});
  const auto wanted = decode({0, 1, 2, 3, 4, 5, 6, 7, 8}, eager);
  std::string output;
  const LogSink before = set_log_sink([&](Level, std::string_view text) { output += text; });
  const auto found = decode({0, 1, 2, 3, 4, 5, 6, 7, 8}, fixed);
  set_log_sink(before);
  EXPECT_EQ(output, "") << "nothing fell back";
  ASSERT_EQ(found.size(), 9U);
  for (const auto& [number, outcome] : found) {
    EXPECT_EQ(outcome.tokens, wanted.at(number).tokens) << number;
    EXPECT_NEAR(outcome.sum_logprob, wanted.at(number).sum_logprob, 1e-3) << number;
  }
}

TEST(StaticStepper, InFixedShapesGivesTheSameToTheLastBitInAnyOrderAndNumber) {
  const auto stepper = [](std::int32_t slots) {
    return FixedShapeStepper(std::make_unique<ModelStepper>(model(), slots + FixedShapeStepper::kRows, StepDevice{}));
  };
  auto few = stepper(5), many = stepper(12);
  const auto one = decode({0, 1, 2, 3, 4, 5}, few);
  const auto other = decode({5, 3, 4, 1, 0, 2}, many);
  ASSERT_EQ(one.size(), 6U);
  for (const auto& [number, outcome] : one) {
    EXPECT_EQ(outcome.tokens, other.at(number).tokens);
    EXPECT_EQ(outcome.sum_logprob, other.at(number).sum_logprob) << number;
  }
}

TEST(StaticStepper, KeepsTheOrderOfPromptsAndStepsInOneCall) {
  ModelStepper eager(model(), 4), fixed(model(), 4, StepDevice{});
  const auto job = job_of(3);
  const std::vector<std::int32_t> prompt{5, 6, 7, 8};
  const std::int32_t token = 42, last[] = {0, 3};
  const auto* window = job.window.get();
  const SequenceStep mixed[] = {{.slot = 2, .tokens = prompt, .window = window, .logits_at = last},
                                {.slot = 0, .tokens = {&token, 1}, .window = window},
                                {.slot = 3, .tokens = prompt, .window = window},
                                {.slot = 1, .tokens = {&token, 1}, .window = window}};
  const auto found = fixed.decode(mixed), wanted = eager.decode(mixed);
  ASSERT_EQ(found.sizes(), wanted.sizes());
  EXPECT_TRUE(at::allclose(found, wanted, 1e-5, 1e-5));
  const auto kept = found.clone();
  const SequenceStep next[] = {{.slot = 0, .position = 1, .tokens = {&token, 1}, .window = window}};
  fixed.decode(next);
  fixed.decode(next);
  EXPECT_TRUE(at::equal(found, kept)) << "logits are the caller's";
}

TEST(StaticStepper, PromptsBeyondTheRowsOfAStepAreTheModels) {
  ModelStepper eager(model(), 4), fixed(model(), 4, StepDevice{});
  const auto job = job_of(3);
  const std::vector<std::int32_t> shorter(20, 5), longer(StaticStep::kPromptRows + 2, 6);
  const std::int32_t token = 42;
  const auto* window = job.window.get();
  const SequenceStep mixed[] = {{.slot = 0, .tokens = shorter, .window = window},
                                {.slot = 1, .tokens = longer, .window = window},
                                {.slot = 2, .tokens = shorter, .window = window},  // 19 and 19 rows more are too many
                                {.slot = 3, .tokens = {&token, 1}, .window = window}};
  const auto found = fixed.decode(mixed), wanted = eager.decode(mixed);
  ASSERT_EQ(found.sizes(), wanted.sizes());
  EXPECT_TRUE(at::allclose(found, wanted, 1e-5, 1e-5));
}

}  // namespace
}  // namespace tutti
