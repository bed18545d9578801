// Beam search: the ranking rule by itself, and searches through the batcher over logits that depend on every token a
// slot holds, so that a beam in the wrong slot or a copy that falls short changes the text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "decode/batcher.h"
#include "decode/beams.h"
#include "decode/formula_stepper.h"
#include "decode/golden.h"

namespace tutti {
namespace {

constexpr std::int32_t kEnd = 99;

std::vector<std::int32_t> in_order(const std::vector<Continuation>& continuations) {
  std::vector<std::int32_t> tokens;
  for (const auto& one : continuations) tokens.push_back(one.token);
  return tokens;
}

TEST(BeamRank, TakesTheLikeliestUntilEnoughAreLiveAndSetsThoseThatEndAside) {
  const auto round = rank({{0, 1, -1.0F}, {0, kEnd, -3.0F}, {1, 2, -2.0F}, {1, kEnd, -5.0F}, {1, 3, -4.0F}}, 2, kEnd);
  EXPECT_EQ(in_order(round.live), (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(round.ended.empty()) << "less likely than the last live beam";
  const auto more = rank({{0, 1, -1.0F}, {0, kEnd, -3.0F}, {1, 2, -2.0F}, {1, kEnd, -5.0F}, {1, 3, -4.0F}}, 3, kEnd);
  EXPECT_EQ(in_order(more.live), (std::vector<std::int32_t>{1, 2, 3}));
  ASSERT_EQ(more.ended.size(), 1U);
  EXPECT_EQ(more.ended[0].sum_logprob, -3.0F);
  EXPECT_FALSE(more.narrow);
}

TEST(BeamRank, TiesKeepBeamOrderAndCountAsNarrow) {
  const auto round = rank({{0, 5, -1.0F}, {1, 6, -1.0F}, {2, 7, -1.0F}}, 2, kEnd);
  EXPECT_EQ(in_order(round.live), (std::vector<std::int32_t>{5, 6}));
  EXPECT_TRUE(round.narrow);
  EXPECT_FALSE(rank({{0, 5, -1.0F}, {1, 6, -1.5F}, {2, 7, -2.0F}, {2, 8, -2.0F}}, 2, kEnd).narrow)
      << "two that were both left behind decide nothing";
}

TEST(BeamRank, PatienceRoundsHalvesToEvenAsPythonDoes) {
  EXPECT_EQ(enough_hypotheses(5, 1.0), 5);
  EXPECT_EQ(enough_hypotheses(2, 1.25), 2);
  EXPECT_EQ(enough_hypotheses(2, 1.75), 4);
  EXPECT_EQ(enough_hypotheses(5, 0.5), 2);
  EXPECT_EQ(enough_hypotheses(1, 0.5), 0);
}

TEST(Continuations, AreSortedSumsWithoutForbiddenTokens) {
  std::vector<float> logits(1000, -std::numeric_limits<float>::infinity());
  logits[700] = std::log(5.0F);
  logits[3] = std::log(1.0F);
  logits[299] = std::log(2.0F);
  const auto found = likeliest_continuations(4, -1.0F, logits, 6);
  EXPECT_EQ(in_order(found), (std::vector<std::int32_t>{700, 299, 3}));
  EXPECT_EQ(found[0].parent, 4U);
  EXPECT_NEAR(found[0].sum_logprob, -1 + std::log(0.625), 1e-6);
  EXPECT_NEAR(found[0].logprob, std::log(0.625), 1e-6);
  EXPECT_EQ(likeliest_continuations(0, 0.0F, logits, 2).size(), 2U);
}

TEST(Continuations, NanLogitsGiveNanInsteadOfNone) {
  std::vector<float> logits(1000, std::numeric_limits<float>::quiet_NaN());
  logits[0] = -std::numeric_limits<float>::infinity();
  const auto found = likeliest_continuations(2, -1.0F, logits, 6);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].parent, 2U);
  EXPECT_TRUE(std::isnan(found[0].sum_logprob));
  logits.assign(1000, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(likeliest_continuations(2, -1.0F, logits, 6).empty());
}

// 300 words, the end, two special tokens, 97 times.
constexpr std::int64_t kVocabulary = 400;
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};
constexpr std::int32_t kContext = 64;

std::map<std::uint64_t, DecodeOutcome> run(Batcher& batcher, Stepper& stepper) {
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) outcomes[finished.request] = finished.outcome.value();
  }
  return outcomes;
}

/// Searches that differ in everything.
SequenceRequest search_of(std::uint64_t number) {
  SequenceRequest job{.window_id = number, .request = number, .window = formula_window(number)};
  for (std::uint64_t i = 0; i <= number % 6; ++i)
    job.prompt.push_back(static_cast<std::int32_t>((number * 29 + i) % 300));
  job.sot_index = static_cast<std::int32_t>(job.prompt.size()) - 1;
  job.decoding.beam_size = 1 + static_cast<std::int32_t>(number % 5);
  job.decoding.patience = number % 2 == 0 ? 1 : 2;
  job.decoding.length_penalty = number % 3 == 0 ? 0.7 : -1;
  job.max_tokens = number % 4 == 0 ? 7 : 40;
  job.decoding.timestamps = number % 3 != 1;
  return job;
}

DecodeOutcome alone(const SequenceRequest& job) {
  FormulaStepper stepper(std::max(1, job.decoding.beams()), kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job);
  return run(batcher, stepper).at(job.request);
}

TEST(BeamSearch, FindsWhatTheReferenceFinds) {
  const auto file = golden("beam.json");
  const auto tokens = tokens_of(golden("decodings.json")["vocabularies"]["english"]);
  for (const auto& expected : file["formula"]) {
    const std::int32_t beams = expected["beam_size"];
    FormulaStepper stepper(beams, 51864, tokens, true);
    Batcher batcher(tokens, 448, Clock::real());
    batcher.submit({.window = formula_window(expected["seed"]),
                    .prompt = expected["prompt"],
                    .sot_index = expected["sot_index"],
                    .max_tokens = expected["max_tokens"],
                    .decoding = {.beam_size = beams,
                                 .patience = expected["patience"].get<double>(),
                                 .length_penalty = expected["length_penalty"].get<double>(),
                                 .suppress_tokens = file["suppress"],
                                 .timestamps = expected["timestamps"],
                                 .token_logprobs = true}});
    const auto outcome = run(batcher, stepper).at(0);
    EXPECT_EQ(outcome.tokens, expected["tokens"].get<std::vector<std::int32_t>>()) << expected["seed"];
    EXPECT_NEAR(outcome.avg_logprob, expected["avg_logprob"].get<double>(), 1e-5) << expected["seed"];
    EXPECT_NEAR(mean_logprob(outcome), expected["avg_logprob"].get<double>(), 1e-5) << expected["seed"];
    EXPECT_EQ(outcome.token_logprobs.size(), static_cast<std::size_t>(outcome.steps)) << expected["seed"];
  }
}

TEST(BeamSearch, NoTokenLogprobsWithoutRequest) {
  EXPECT_TRUE(alone(search_of(3)).token_logprobs.empty());
}

TEST(BeamSearch, ComesOutTheSameAloneAndAmongNeighbours) {
  for (const std::int32_t slots : {5, 11, 24}) {
    FormulaStepper stepper(slots, kVocabulary, kTokens, true);
    Batcher batcher(kTokens, kContext, Clock::real());
    for (std::uint64_t number = 1; number <= 20; ++number) {
      auto job = search_of(number);
      if (number % 7 == 0) job.decoding.beam_size = 0;  // greedy neighbours
      batcher.submit(job);
    }
    const auto outcomes = run(batcher, stepper);
    ASSERT_EQ(outcomes.size(), 20U);
    for (const auto& [request, outcome] : outcomes) {
      auto job = search_of(request);
      if (request % 7 == 0) job.decoding.beam_size = 0;
      const auto expected = alone(job);
      EXPECT_EQ(outcome.tokens, expected.tokens) << "search " << request << " on " << slots << " slots";
      EXPECT_EQ(outcome.sum_logprob, expected.sum_logprob) << request;
      EXPECT_EQ(outcome.no_speech_prob, expected.no_speech_prob) << request;
    }
  }
}

TEST(BeamSearch, OneBeamWithoutPatienceEqualsArgmax) {
  auto job = search_of(5);
  job.decoding.beam_size = 1;
  job.decoding.patience = 1;
  const auto beam = alone(job);
  job.decoding.beam_size = 0;
  const auto argmax = alone(job);
  EXPECT_EQ(beam.tokens, argmax.tokens);
  EXPECT_NEAR(beam.sum_logprob, argmax.sum_logprob, 1e-4);
}

TEST(BeamSearch, RestartDecodesAgainWithTheSameResult) {
  FormulaStepper stepper(10, kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(search_of(4));
  batcher.submit(search_of(9));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(batcher.step(stepper).empty());
  stepper.fail_next();
  EXPECT_THROW(batcher.step(stepper), std::bad_alloc);
  batcher.restart();
  EXPECT_EQ(batcher.jobs(), 2);
  FormulaStepper smaller(5, kVocabulary, kTokens, true);
  const auto outcomes = run(batcher, smaller);
  for (const std::uint64_t number : {4U, 9U}) EXPECT_EQ(outcomes.at(number).tokens, alone(search_of(number)).tokens);
}

TEST(BeamSearch, MoreBeamsThanSlotsAreRefusedAndTheNextJobIsServed) {
  FormulaStepper stepper(4, kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(search_of(4));  // five beams
  batcher.submit(search_of(5));
  const auto finished = batcher.step(stepper);
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].outcome.error().fault, Fault::exhausted);
  EXPECT_EQ(run(batcher, stepper).at(5).tokens, alone(search_of(5)).tokens);
}

TEST(BeamSearch, TheSlotsOfAnEndedOrForgottenSearchAreFreeAgain) {
  FormulaStepper stepper(5, kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(search_of(4));
  batcher.step(stepper);
  batcher.step(stepper);
  batcher.forget(4);
  batcher.submit(search_of(9));
  batcher.submit(search_of(14));
  const auto outcomes = run(batcher, stepper);
  for (const std::uint64_t number : {9U, 14U}) EXPECT_EQ(outcomes.at(number).tokens, alone(search_of(number)).tokens);
}

TEST(BeamSearch, CopiesOnlyWhatTwoBeamsDoNotShare) {
  auto job = search_of(9);
  job.prompt.assign(20, 3);
  job.sot_index = 19;
  job.max_tokens = 30;
  job.decoding.suppress_tokens = {kTokens.eot};  // so that it goes on to the last token
  FormulaStepper stepper(5, kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  batcher.submit(job);
  batcher.step(stepper);
  batcher.step(stepper);
  EXPECT_EQ(stepper.copied_tokens, 4 * 20) << "the prompt, to each of the other beams";
  const auto outcome = run(batcher, stepper).at(9);
  EXPECT_EQ(outcome.steps, 30);
  EXPECT_LT(stepper.copied_tokens - 4 * 20, 5 * stepper.copies) << "a few tokens each, not the history";
}

TEST(BeamSearch, WithoutAnyPossibleTokenItFailsOnce) {
  FormulaStepper stepper(5, kVocabulary, kTokens, true);
  Batcher batcher(kTokens, kContext, Clock::real());
  auto job = search_of(4);
  for (std::int32_t id = 0; id < kVocabulary; ++id) job.decoding.suppress_tokens.push_back(id);
  batcher.submit(job);
  const auto finished = batcher.step(stepper);
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].outcome.error().fault, Fault::device);
  EXPECT_TRUE(batcher.idle());
}

}  // namespace
}  // namespace tutti
