// Token selection for whole steps against selection for single rows. On a GPU the logits stay there; here both are on
// the CPU.
#include "decode/device_token_selector.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "base/log.h"
#include "decode/batcher.h"
#include "decode/formula_stepper.h"
#include "decode/verified_token_selector.h"

namespace tutti {
namespace {

// 300 words, the end, two special tokens, 97 times.
constexpr std::int64_t kVocabulary = 400;
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

/// Nothing yet; text; a time behind text, once as the first of a pair and once as the last; text behind a pair.
const std::vector<std::vector<std::int32_t>> kHistories{
    {}, {310}, {310, 5, 6}, {310, 5, 320}, {310, 5, 320, 320}, {310, 5, 320, 325, 9}, {310, 5, 399, 399}, {1, 2}};

/// One sequence of every history, search and set of rules.
std::vector<Sequence> all_kinds() {
  std::vector<Sequence> live;
  for (const std::int32_t beams : {0, 1, 5}) {
    for (const float temperature : {0.0F, 0.4F, 1.0F}) {
      for (std::size_t kind = 0; kind < kHistories.size(); ++kind) {
        auto job = std::make_shared<RequestProgress>();
        job->job = {.prompt = {1}, .temperature = temperature, .decoding = {.beam_size = beams, .seed = kind}};
        auto& rules = job->job.decoding;
        rules.timestamps = kind + 1 < kHistories.size();
        rules.suppress_blank = temperature < 0.5F;
        if (kind % 3 == 0) rules.suppress_tokens = {4, 5, 350};
        rules.max_initial_timestamp = beams == 1 ? -1 : 50;
        const auto steps = static_cast<std::int32_t>(kHistories[kind].size());
        live.push_back({.of = job,
                        .index = static_cast<std::int32_t>(live.size() % 5),
                        .sample = {.tokens = kHistories[kind], .sum_logprob = -1.5, .steps = steps}});
      }
    }
  }
  return live;
}

/// Those that draw no token: they are selected by one kernel.
std::vector<Sequence> undrawn_kinds() {
  auto live = all_kinds();
  std::erase_if(live, [](const Sequence& sequence) { return sequence.of->job.temperature > 0; });
  return live;
}

/// Rows in an order of their own, and one more than there are sequences.
struct Rows {
  explicit Rows(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      newest.push_back(static_cast<std::int64_t>(count - i));
      at_sot.push_back(i % 3 == 0 ? static_cast<std::int64_t>(i) : -1);
    }
  }
  StepRows of(const at::Tensor& logits) const { return {logits, newest, at_sot}; }

  std::vector<std::int64_t> newest{};
  std::vector<std::int64_t> at_sot{};
};

Selection by_itself(const Sequence& sequence, const at::Tensor& logits, std::int64_t row) {
  auto own = logits[row].clone();
  return select_token(sequence, {own.mutable_data_ptr<float>(), kVocabulary}, {}, kTokens);
}

void expect_same(const Selection& found, const Selection& wanted, const Sequence& sequence, std::size_t number) {
  EXPECT_EQ(found.narrow, wanted.narrow) << number;
  if (!sequence.is_beam()) {
    EXPECT_EQ(found.choice.token, wanted.choice.token) << number;
    EXPECT_NEAR(found.choice.logprob, wanted.choice.logprob, 1e-5) << number;
    return;
  }
  ASSERT_EQ(found.continuations.size(), wanted.continuations.size()) << number;
  for (std::size_t i = 0; i < found.continuations.size(); ++i) {
    EXPECT_EQ(found.continuations[i].token, wanted.continuations[i].token) << number;
    EXPECT_NEAR(found.continuations[i].sum_logprob, wanted.continuations[i].sum_logprob, 1e-5) << number;
    EXPECT_NEAR(found.continuations[i].logprob, wanted.continuations[i].logprob, 1e-5) << number;
  }
}

void expect_same_as_by_themselves(const std::vector<Sequence>& live, const at::Tensor& logits,
                                  DeviceTokenSelector& selector) {
  const Rows rows(live.size());
  const auto before = logits.clone();
  const auto found = selector.select_tokens(rows.of(logits), live, kTokens);
  ASSERT_EQ(found.size(), live.size());
  EXPECT_TRUE(at::equal(logits, before)) << "the step's logits may be needed again";
  for (std::size_t i = 0; i < live.size(); ++i) {
    expect_same(found[i], by_itself(live[i], logits, rows.newest[i]), live[i], i);
    ASSERT_EQ(found[i].no_speech_prob.has_value(), rows.at_sot[i] >= 0) << i;
    if (!found[i].no_speech_prob) continue;
    const auto chance = logits[rows.at_sot[i]].softmax(0)[*kTokens.no_speech].item<float>();
    EXPECT_NEAR(*found[i].no_speech_prob, chance, 1e-6F) << i;
  }
}

void expect_all_same(const at::Tensor& logits, DeviceTokenSelector& selector) {
  expect_same_as_by_themselves(all_kinds(), logits, selector);
  expect_same_as_by_themselves(undrawn_kinds(), logits, selector);
}

at::Tensor random_logits() {
  return at::randn({static_cast<std::int64_t>(all_kinds().size()) + 1, kVocabulary}).mul_(4);
}

TEST(DeviceTokenSelector, BatchedRowsGiveTheSameSelectionAsSingleRows) {
  at::manual_seed(4);
  DeviceTokenSelector selector;
  for (int step = 0; step < 3; ++step) expect_all_same(random_logits(), selector);
}

TEST(DeviceTokenSelector, EqualLogitsTakeTheFirst) {
  at::manual_seed(5);
  DeviceTokenSelector selector;
  expect_all_same(random_logits().round_(), selector);  // two dozen values for 400 tokens
}

TEST(DeviceTokenSelector, WeighsTimesAgainstTextAsTheRuleDoes) {
  at::manual_seed(6);
  DeviceTokenSelector selector;
  for (const double heavier : {-2.0, 0.0, 2.0, 4.0}) {
    const auto logits = random_logits();
    logits.narrow(1, kTokens.timestamp_begin, kVocabulary - kTokens.timestamp_begin).add_(heavier);
    expect_all_same(logits, selector);
  }
}

void expect_no_logprobs(const std::vector<Sequence>& live, float logit) {
  const Rows rows(live.size());
  const auto logits = at::full({static_cast<std::int64_t>(live.size()) + 1, kVocabulary}, logit);
  DeviceTokenSelector selector;
  const auto found = selector.select_tokens(rows.of(logits), live, kTokens);
  EXPECT_TRUE(std::ranges::equal(found, select_on_host(rows.of(logits), live, kTokens), agree)) << logit;
  for (std::size_t i = 0; i < live.size(); ++i) {
    EXPECT_TRUE(live[i].is_beam() || std::isnan(found[i].choice.logprob)) << i;
    // A search without any offer ends; one with an offer that is no number fails.
    EXPECT_EQ(found[i].continuations.empty(), !live[i].is_beam() || std::isinf(logit)) << i;
    for (const auto& one : found[i].continuations) EXPECT_TRUE(std::isnan(one.sum_logprob)) << i;
  }
}

TEST(DeviceTokenSelector, NanOrForbiddenLogitsHaveNoLogProbability) {
  for (const float logit : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    expect_no_logprobs(all_kinds(), logit);
    expect_no_logprobs(undrawn_kinds(), logit);
  }
}

TEST(DeviceTokenSelector, OneLogitThatIsNoNumberSpoilsItsRowAlone) {
  at::manual_seed(7);
  const auto live = undrawn_kinds();
  const Rows rows(live.size());
  for (const std::int64_t id : {10L, static_cast<long>(kTokens.timestamp_begin) + 40}) {
    const auto logits = random_logits();
    logits.select(1, id).index_fill_(0, at::arange(0, logits.size(0), 2), std::numeric_limits<float>::quiet_NaN());
    DeviceTokenSelector selector;
    const auto found = selector.select_tokens(rows.of(logits), live, kTokens);
    EXPECT_TRUE(std::ranges::equal(found, select_on_host(rows.of(logits), live, kTokens), agree)) << id;
  }
}

TEST(DeviceTokenSelector, DrawsEveryTokenAsOftenAsItIsProbable) {
  constexpr int kDraws = 2000;
  auto logits = at::full({1, kVocabulary}, -std::numeric_limits<float>::infinity());
  logits.select(1, 40).fill_(std::log(6.0F));
  logits.select(1, 90).fill_(std::log(3.0F));
  logits.select(1, 95).fill_(std::log(1.0F));
  const std::vector<std::int64_t> newest(kDraws, 0), no_sot(kDraws, -1);
  std::vector<Sequence> live;
  for (int i = 0; i < kDraws; ++i) {
    auto job = std::make_shared<RequestProgress>();
    job->job = {
        .prompt = {1}, .temperature = 1, .decoding = {.seed = static_cast<std::uint64_t>(i), .timestamps = false}};
    live.push_back({.of = job, .sample = {.tokens = {1}, .steps = 1}});
  }
  std::map<std::int32_t, int> times;
  for (const auto& one : DeviceTokenSelector().select_tokens({logits, newest, no_sot}, live, kTokens))
    ++times[one.choice.token];
  ASSERT_EQ(times.size(), 3U);
  EXPECT_NEAR(times[40], 1200, 120);  // five standard deviations
  EXPECT_NEAR(times[90], 600, 110);
  EXPECT_NEAR(times[95], 200, 70);
}

TEST(VerifiedTokenSelector, OnlyContinuationsOfEqualSumsMayBeReordered) {
  const Selection wanted{.continuations = {{.token = 5, .sum_logprob = -1.0F},
                                           {.token = 6, .sum_logprob = -2.0F},
                                           {.token = 7, .sum_logprob = -2.0F},
                                           {.token = 8, .sum_logprob = -3.0F}}};
  const auto named = [&](std::vector<std::int32_t> tokens) {
    auto found = wanted;
    for (std::size_t i = 0; i < tokens.size(); ++i) found.continuations[i].token = tokens[i];
    return found;
  };
  EXPECT_TRUE(agree(wanted, wanted));
  EXPECT_TRUE(agree(named({5, 7, 6, 8}), wanted));
  EXPECT_TRUE(agree(named({5, 6, 7, 9}), wanted)) << "a ninth may be as likely as the last";
  EXPECT_FALSE(agree(named({6, 5, 7, 8}), wanted));
}

TEST(VerifiedTokenSelector, TrustsAnAgreeingDeviceAndChecksEachStepKindOnce) {
  at::manual_seed(7);
  int checked = 0;
  VerifiedTokenSelector selector(
      [&checked, real = DeviceTokenSelector()](const auto& step, auto live, const auto& tokens) mutable {
        auto selections = real.select_tokens(step, live, tokens);
        if (++checked > 1) selections[0].choice.token ^= 1;  // who looks?
        return selections;
      });
  const auto live = all_kinds();
  const Rows rows(live.size());
  const auto logits = random_logits();
  const auto first = selector.select_tokens(rows.of(logits), live, kTokens);
  const auto second = selector.select_tokens(rows.of(logits), live, kTokens);
  EXPECT_TRUE(selector.trusted());
  EXPECT_EQ(second[0].choice.token, first[0].choice.token ^ 1);
  const LogSink before = set_log_sink([](Level, std::string_view) {});
  const auto greedy = selector.select_tokens(rows.of(logits), std::span(live).first(kHistories.size()), kTokens);
  set_log_sink(before);
  EXPECT_FALSE(selector.trusted()) << "a step of another kind";
  EXPECT_EQ(greedy[0].choice.token, first[0].choice.token);
}

TEST(VerifiedTokenSelector, ReplacesWrongSelectionsAndStopsTrustingTheDevice) {
  at::manual_seed(8);
  const auto live = all_kinds();
  const Rows rows(live.size());
  const auto logits = random_logits();
  const auto right = DeviceTokenSelector().select_tokens(rows.of(logits), live, kTokens);
  const auto clear = std::ranges::find_if(right, [](const Selection& one) { return !one.narrow; });
  ASSERT_NE(clear, right.end());
  std::string output;
  const LogSink before = set_log_sink([&](Level, std::string_view text) { output += text; });
  for (const int damage : {1, 2, 3}) {
    auto wrong = right;
    auto& one = wrong[static_cast<std::size_t>(clear - right.begin())];
    if (damage == 1) one.choice.token ^= 1;
    if (damage == 2) one.choice.logprob += 0.1;
    if (damage == 3) wrong[0].no_speech_prob.reset();
    output.clear();
    VerifiedTokenSelector selector(
        [&](const StepRows&, std::span<const Sequence>, const DecodingTokens&) { return wrong; });
    const auto found = selector.select_tokens(rows.of(logits), live, kTokens);
    EXPECT_FALSE(selector.trusted()) << damage;
    EXPECT_NE(output.find("selected on the host"), std::string::npos) << damage;
    for (std::size_t i = 0; i < live.size(); ++i) expect_same(found[i], right[i], live[i], i);
    EXPECT_TRUE(found[0].no_speech_prob.has_value()) << damage;
  }
  set_log_sink(before);
}

/// A formula whose tokens are selected on the device that holds the logits.
struct SelectedOnDevice : FormulaStepper {
  using FormulaStepper::FormulaStepper;
  bool selects_on_device() const override { return true; }
};

/// Jobs that differ in everything: window, prompt, temperature, samples, beams, rules.
SequenceRequest job_of(std::uint64_t number) {
  SequenceRequest job{.window_id = number, .request = number, .window = formula_window(number)};
  job.prompt.assign(1 + number % 4, static_cast<std::int32_t>(number));
  job.sot_index = static_cast<std::int32_t>(number % job.prompt.size());
  job.temperature = number % 3 == 1 ? 0.6F : 0.0F;
  job.decoding.best_of = 3;
  job.decoding.seed = number;
  job.decoding.beam_size = number % 3 == 2 ? 4 : 0;
  job.max_tokens = 30;
  job.decoding.timestamps = number % 4 != 3;
  if (number % 5 == 0) job.decoding.suppress_tokens = {1, 2, 3, 310};
  return job;
}

std::map<std::uint64_t, DecodeOutcome> run(Stepper& stepper) {
  Batcher batcher(kTokens, 64, Clock::real());
  for (std::uint64_t number = 1; number <= 24; ++number) batcher.submit(job_of(number));
  std::map<std::uint64_t, DecodeOutcome> outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) outcomes[finished.request] = finished.outcome.value();
  }
  return outcomes;
}

TEST(DeviceTokenSelector, GivesABatchTheTextsThatTheHostGivesIt) {
  SelectedOnDevice there(9, kVocabulary, kTokens, true);
  FormulaStepper here(9, kVocabulary, kTokens, true);
  std::string output;
  const LogSink before = set_log_sink([&](Level, std::string_view text) { output += text; });
  const auto found = run(there), wanted = run(here);
  set_log_sink(before);
  EXPECT_EQ(output, "") << "the device selector was trusted to the end";
  ASSERT_EQ(found.size(), 24U);
  for (const auto& [number, outcome] : found) {
    const auto& other = wanted.at(number);
    EXPECT_EQ(outcome.tokens, other.tokens) << number;
    EXPECT_EQ(outcome.steps, other.steps) << number;
    EXPECT_EQ(outcome.narrow_margins, other.narrow_margins) << number;
    EXPECT_NEAR(outcome.avg_logprob, other.avg_logprob, 1e-5) << number;
    EXPECT_NEAR(outcome.no_speech_prob, other.no_speech_prob, 1e-5 * other.no_speech_prob) << number;
  }
}

}  // namespace
}  // namespace tutti
