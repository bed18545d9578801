#include "advise/diagnosis.h"

#include <gtest/gtest.h>

#include "advise/replay.h"
#include "support/planted_stages.h"

namespace tutti {
namespace {

using enum StageResource;

constexpr Seconds kRun{4};

TEST(Diagnosis, NamesTheStageThatGainsMostWhenTwiceAsFast) {
  const PipelineModel pipeline{
      8, {even_stage("read", io, 2, 5), even_stage("decode", cpu, 1, 12), even_stage("step", device, 1, 8)}};
  const auto found = diagnose(pipeline, kRun);
  EXPECT_EQ(found.limit.stage, "decode");
  EXPECT_EQ(found.limit.resource, cpu);
  EXPECT_NEAR(found.limit.share, 1 - 8.0 / 12, 0.005);
  ASSERT_FALSE(found.fixes.empty());
  EXPECT_EQ(found.fixes[0].changes[0].text(), "decode.threads=2");
  EXPECT_NEAR(found.fixes[0].items_per_s, 125, 1);
  EXPECT_LE(found.fixes[0].low, 125);
  EXPECT_GE(found.fixes[0].high, 125);
}

TEST(Diagnosis, SettingsComeBeforeSpeedEachByGain) {
  const TimesDescription uneven{.mean = Seconds(0.01), .variation = 1};
  const PipelineModel pipeline{
      2, {drawn_stage("a", cpu, 1, uneven, 1), drawn_stage("b", cpu, 1, uneven, 1), drawn_stage("c", io, 1, uneven)}};
  const auto found = diagnose(pipeline, kRun);
  bool speed = false;
  double before = 1e9;
  for (const Fix& fix : found.fixes) {
    const bool is_speed = fix.changes[0].key == "speed";
    EXPECT_TRUE(is_speed || !speed);
    if (is_speed && !speed) before = 1e9;
    speed = is_speed;
    EXPECT_LE(fix.items_per_s, before);
    before = fix.items_per_s;
    EXPECT_GE(fix.items_per_s, (1 + kLeastGain) * found.items_per_s);
  }
  EXPECT_TRUE(speed);
}

TEST(Diagnosis, TwoBalancedStagesGainOnlyTogether) {
  const PipelineModel pipeline{8, {even_stage("a", io, 1, 10), even_stage("b", io, 1, 10)}};
  const auto found = diagnose(pipeline, kRun);
  EXPECT_TRUE(found.fixes.empty());
  EXPECT_TRUE(found.limit.close);
  ASSERT_EQ(found.together.size(), 1U);
  EXPECT_EQ(found.together[0].changes.size(), 2U);
  EXPECT_NEAR(found.together[0].items_per_s, 200, 1);
}

TEST(Diagnosis, PairThatGainsNoMoreThanOneIsNotNamed) {
  // Only speeds may be set, and the second stage has little to do.
  const RateModel model{.play = [](const PipelineModel& it) { return replay(it, {.items = 2000}); },
                        .rate = [](const ReplayResult& played) { return played.rate(); },
                        .predict =
                            [](const PipelineModel& it) {
                              const double rate = replay(it, {.items = 2000}).rate();
                              return Fix{{}, rate, rate, rate};
                            },
                        .may_set = [](const Change& change) { return change.key == "speed"; }};
  const auto found = diagnose({8, {even_stage("ring", cpu, 1, 1), even_stage("step", device, 1, 20)}}, model);
  ASSERT_EQ(found.fixes.size(), 1U);
  EXPECT_EQ(found.fixes[0].changes[0].text(), "step.speed=2");
  EXPECT_TRUE(found.together.empty());
}

TEST(Diagnosis, SecondChangeBesideTheFirstIsNamed) {
  const PipelineModel pipeline{8, {even_stage("a", io, 1, 14), even_stage("b", io, 1, 10), even_stage("c", io, 1, 4)}};
  const auto found = diagnose(pipeline, kRun);
  ASSERT_EQ(found.together.size(), 1U);
  EXPECT_EQ(found.together[0].changes[0].text(), "a.threads=2");
  EXPECT_EQ(found.together[0].changes[1].stage, "b");
}

TEST(Diagnosis, DeviceAloneIsOnlyHelpedBySpeed) {
  const auto found = diagnose({4, {even_stage("read", io, 1, 2), even_stage("step", device, 3, 10)}}, kRun);
  ASSERT_EQ(found.fixes.size(), 1U);
  EXPECT_EQ(found.fixes[0].changes[0].text(), "step.speed=2");
}

TEST(Diagnosis, CoresAreAFixWhereTheyAreShort) {
  const auto found = diagnose({1, {even_stage("decode", cpu, 4, 10), even_stage("mel", cpu, 4, 5)}}, kRun);
  ASSERT_FALSE(found.fixes.empty());
  EXPECT_EQ(found.fixes[0].changes[0].key, "cores");
  EXPECT_EQ(found.limit.stage, "decode");
}

TEST(Diagnosis, MoreThreadsThanNeededAreNotAdvised) {
  const auto found = diagnose({8, {even_stage("read", io, 1, 30), even_stage("step", device, 1, 10)}}, kRun);
  EXPECT_EQ(found.fixes[0].changes[0].text(), "read.threads=3");
}

}  // namespace
}  // namespace tutti
