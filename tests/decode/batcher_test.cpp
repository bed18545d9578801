#include "decode/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "decode/formula_stepper.h"
#include "decode/golden.h"

namespace tutti {
namespace {

// 300 words, the end, two special tokens, 97 times.
constexpr std::int64_t kVocabulary = 400;
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};
constexpr std::int32_t kContext = 64;

FormulaStepper stepper_of(std::int32_t slots) {
  return {slots, kVocabulary, kTokens, true};
}

/// Jobs that differ in everything: window, prompt length, temperature, samples, rules.
SequenceRequest job_of(std::uint64_t number) {
  SequenceRequest job{.window_id = number / 2, .request = number, .window = formula_window(number / 2)};
  for (std::uint64_t i = 0; i <= number % 7; ++i)
    job.prompt.push_back(static_cast<std::int32_t>((number * 31 + i) % 300));
  job.sot_index = static_cast<std::int32_t>(job.prompt.size() - 1 - number % 2 * (job.prompt.size() - 1));
  job.temperature = number % 3 == 0 ? 0.0F : 0.2F * static_cast<float>(number % 5 + 1);
  job.decoding.best_of = 1 + static_cast<std::int32_t>(number % 4);
  job.decoding.seed = number;
  job.max_tokens = 30;
  job.decoding.timestamps = number % 2 == 0;
  return job;
}

std::map<std::uint64_t, DecodeOutcome> run(Batcher& batcher, Stepper& stepper) {
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) {
      EXPECT_TRUE(finished.outcome.has_value());
      outcomes[finished.request] = std::move(*finished.outcome);
    }
  }
  return outcomes;
}

DecodeOutcome alone(const SequenceRequest& job) {
  auto stepper = stepper_of(1);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job);
  return run(batcher, stepper).at(job.request);
}

void expect_equal(const DecodeOutcome& found, const DecodeOutcome& expected, std::uint64_t request) {
  EXPECT_EQ(found.tokens, expected.tokens) << "job " << request;
  EXPECT_EQ(found.sum_logprob, expected.sum_logprob) << "job " << request;
  EXPECT_EQ(found.avg_logprob, expected.avg_logprob) << "job " << request;
  EXPECT_EQ(found.no_speech_prob, expected.no_speech_prob) << "job " << request;
  EXPECT_EQ(found.steps, expected.steps) << "job " << request;
}

TEST(Batcher, DecodesWhatTheReferenceDecodes) {
  const auto file = golden("decodings.json");
  for (const auto& expected : file["decodings"]) {
    const auto& vocabulary = file["vocabularies"][expected["vocabulary"].get<std::string>()];
    const auto tokens = tokens_of(vocabulary);
    FormulaStepper stepper(1, vocabulary["n_vocab"], tokens, false);
    Batcher batcher(tokens, 448, Clock::real());
    batcher.submit({.window = formula_window(expected["seed"]),
                    .prompt = expected["prompt"],
                    .sot_index = expected["sot_index"],
                    .max_tokens = expected["max_tokens"],
                    .decoding = {.suppress_tokens = expected["suppress"],
                                 .suppress_blank = expected["suppress_blank"],
                                 .timestamps = expected["timestamps"],
                                 .max_initial_timestamp = expected["max_initial_timestamp"],
                                 .token_logprobs = true}});
    const auto outcome = run(batcher, stepper).at(0);
    EXPECT_EQ(outcome.tokens, expected["tokens"].get<std::vector<std::int32_t>>()) << expected["vocabulary"];
    EXPECT_NEAR(outcome.avg_logprob, expected["avg_logprob"].get<double>(), 1e-5);
    EXPECT_NEAR(mean_logprob(outcome), expected["avg_logprob"].get<double>(), 1e-5);
    EXPECT_EQ(outcome.token_logprobs.size(), static_cast<std::size_t>(outcome.steps));
    const auto no_speech = expected["no_speech_prob"].get<float>();
    EXPECT_NEAR(outcome.no_speech_prob, no_speech, 1e-5F * no_speech);
  }
}

TEST(Batcher, AJobComesOutTheSameAloneAndAmongNeighbours) {
  for (const std::int32_t slots : {2, 4, 8}) {
    auto stepper = stepper_of(slots);
    Batcher batcher(kTokens, kContext, Clock::real());
    for (std::uint64_t number = 1; number <= 24; ++number) batcher.submit(job_of(number));
    const auto outcomes = run(batcher, stepper);
    ASSERT_EQ(outcomes.size(), 24U);
    EXPECT_EQ(stepper.most_together, static_cast<std::size_t>(slots));
    for (const auto& [request, outcome] : outcomes) expect_equal(outcome, alone(job_of(request)), request);
  }
}

TEST(Batcher, RequestSubmittedMidFlightChangesNoOther) {
  auto stepper = stepper_of(4);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job_of(2));
  batcher.step(stepper);
  batcher.step(stepper);
  batcher.submit(job_of(9));
  const auto outcomes = run(batcher, stepper);
  for (const std::uint64_t number : {2U, 9U}) expect_equal(outcomes.at(number), alone(job_of(number)), number);
}

TEST(Batcher, SamplesThatEnterTogetherShareOnePrefill) {
  auto stepper = stepper_of(8);
  Batcher batcher(kTokens, kContext, Clock::real());
  auto job = job_of(1);
  job.decoding.best_of = 5;
  batcher.submit(job);
  batcher.step(stepper);
  EXPECT_EQ(stepper.most_together, 1U);
  EXPECT_EQ(stepper.copies, 4);
  // With one slot they come one after the other, and the answer is the same.
  expect_equal(run(batcher, stepper).at(1), alone(job), 1);
}

TEST(Batcher, TheLikeliestSamplePerTokenWins) {
  auto job = job_of(1);
  job.temperature = 1;
  job.decoding.best_of = 6;
  const auto best = alone(job);
  const auto score = [](const DecodeOutcome& outcome) {
    return outcome.sum_logprob / static_cast<double>(std::max<std::size_t>(1, outcome.tokens.size()));
  };
  job.decoding.best_of = 1;
  const auto first = alone(job);
  EXPECT_GE(score(best), score(first));
  EXPECT_NE(best.tokens, first.tokens);
}

TEST(Batcher, TokenLogprobsAreOfTheChosenSampleAndOnlyWhereRequested) {
  auto job = job_of(1);
  job.temperature = 1;
  job.decoding.best_of = 6;
  EXPECT_TRUE(alone(job).token_logprobs.empty());
  job.decoding.token_logprobs = true;
  const auto best = alone(job);
  EXPECT_EQ(best.token_logprobs.size(), static_cast<std::size_t>(best.steps));
  EXPECT_NEAR(mean_logprob(best), best.avg_logprob, 1e-6);
}

TEST(Batcher, AtTemperatureZeroOneSampleIsEnough) {
  auto job = job_of(3);
  job.decoding.best_of = 5;
  auto stepper = stepper_of(8);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job);
  batcher.step(stepper);
  batcher.step(stepper);
  EXPECT_EQ(stepper.copies, 0) << "no sample began beside the first";
  EXPECT_EQ(stepper.most_together, 1U);
}

TEST(Batcher, AFreedSlotIsTakenAtTheNextStep) {
  auto stepper = stepper_of(1);
  Batcher batcher(kTokens, kContext, Clock::real());
  auto job = job_of(3);
  job.max_tokens = 2;
  batcher.submit(job);
  job.request = 4;
  batcher.submit(job);
  EXPECT_TRUE(batcher.step(stepper).empty());
  EXPECT_EQ(batcher.step(stepper).at(0).request, 3U);
  EXPECT_TRUE(batcher.step(stepper).empty());
  EXPECT_EQ(batcher.step(stepper).at(0).request, 4U);
  EXPECT_EQ(stepper.calls, 4);
}

TEST(Batcher, AfterARestartWithFewerSlotsEveryJobStillComesOutTheSame) {
  auto large = stepper_of(8);
  Batcher batcher(kTokens, kContext, Clock::real());
  for (std::uint64_t number = 1; number <= 8; ++number) batcher.submit(job_of(number));
  batcher.step(large);
  batcher.step(large);
  large.fail_next();
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  EXPECT_THROW(batcher.step(large), std::bad_alloc);
  batcher.restart();
  auto small = stepper_of(3);
  outcomes.merge(run(batcher, small));
  ASSERT_EQ(outcomes.size(), 8U);
  for (const auto& [request, outcome] : outcomes) expect_equal(outcome, alone(job_of(request)), request);
}

TEST(Batcher, AForgottenWindowLeavesNothingBehind) {
  auto stepper = stepper_of(2);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job_of(4));
  batcher.submit(job_of(5));
  batcher.submit(job_of(6));
  batcher.step(stepper);
  batcher.forget(2);
  const auto outcomes = run(batcher, stepper);
  EXPECT_EQ(outcomes.size(), 1U);
  expect_equal(outcomes.at(6), alone(job_of(6)), 6);
}

TEST(Batcher, AJobWithoutAnyPossibleTokenFailsAloneAndOnce) {
  auto stepper = stepper_of(3);
  Batcher batcher(kTokens, kContext, Clock::real());
  auto hopeless = job_of(1);
  hopeless.decoding.best_of = 4;
  for (std::int32_t id = 0; id < kVocabulary; ++id) hopeless.decoding.suppress_tokens.push_back(id);
  batcher.submit(hopeless);
  batcher.submit(job_of(2));
  std::vector<DecodeResult> finished;
  while (!batcher.idle()) {
    for (auto& one : batcher.step(stepper)) finished.push_back(std::move(one));
  }
  ASSERT_EQ(finished.size(), 2U);
  EXPECT_FALSE(finished[0].outcome.has_value());
  expect_equal(*finished[1].outcome, alone(job_of(2)), 2);
}

TEST(Batcher, AVocabularyWithoutNoSpeechTokenHasNoNoSpeechProbability) {
  auto stepper = stepper_of(1);
  auto tokens = kTokens;
  tokens.no_speech.reset();
  Batcher batcher(tokens, kContext, Clock::real());
  batcher.submit(job_of(3));
  EXPECT_TRUE(std::isnan(run(batcher, stepper).at(3).no_speech_prob));
}

}  // namespace
}  // namespace tutti
