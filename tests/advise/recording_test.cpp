#include "advise/recording.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advise/pipeline_run.h"
#include "advise/two_stages.h"

namespace tutti {
namespace {

TEST(Recording, ReplayOfItsItemsExplainsTheRun) {
  EXPECT_LT(model_error(two_stages(0.1, 0.03, 2.03)), 0.001);
  EXPECT_NEAR(rate_of(two_stages(0.1, 0.03, 2)), 10, 1e-9);
}

TEST(Recording, FewUnevenItemsLeaveARangeAboveNothing) {
  auto uneven = two_stages(0.1, 0.03, 20.3);
  uneven.stages[0].items[7] = Seconds(20.3 - 20 * 0.1 + 0.07);
  const Fix fix = predict(uneven, {});
  EXPECT_GT(fix.low, 0.2 * fix.items_per_s) << "as slow as five of the long item";
  EXPECT_LT(fix.low, fix.items_per_s);
  EXPECT_GT(fix.high, fix.items_per_s);
}

TEST(Recording, RunThatTookLongerIsNotExplained) {
  EXPECT_NEAR(model_error(two_stages(0.1, 0.03, 4.06)), 1, 0.01);
  EXPECT_FALSE(diagnose(two_stages(0.1, 0.03, 4.06)));
}

TEST(Recording, FirstFixSetsTheThreadsOfTheLimitingStage) {
  const auto found = diagnose(two_stages(0.1, 0.03, 2.03));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limit.stage, "decode");
  ASSERT_FALSE(found->fixes.empty());
  EXPECT_EQ(found->fixes[0].changes[0].stage, "decode");
  EXPECT_EQ(found->fixes[0].changes[0].key, "threads");
  EXPECT_GT(found->fixes[0].items_per_s, 1.5 * 10);
  EXPECT_LT(found->fixes[0].low, found->fixes[0].items_per_s);
}

TEST(Recording, SettingsWithoutAFlagAreNoFix) {
  auto recording = two_stages(0.1, 0.03, 2.03);
  recording.stages[0].threads_flag.clear();
  const auto found = diagnose(recording);
  ASSERT_TRUE(found);
  for (const Fix& fix : found->fixes) EXPECT_EQ(fix.changes[0].key, "speed");
}

TEST(Recording, UnevenItemsWidenTheRange) {
  auto even = two_stages(0.1, 0.03, 2.03), uneven = even;
  for (std::size_t i = 0; i < 20; ++i) uneven.stages[0].items[i] = Seconds(i % 2 == 0 ? 0.01 : 0.19);
  const auto width = [](const RunRecording& recording) {
    const auto found = diagnose(recording);
    return found && !found->fixes.empty() ? found->fixes.back().high - found->fixes.back().low : 0;
  };
  EXPECT_GT(width(uneven), 1.3 * width(even));
}

/// As a training's feed has them: one flag for both.
RunRecording one_flag(double decode, double features, double elapsed) {
  auto recording = two_stages(decode, features, elapsed);
  for (RecordedStage& stage : recording.stages) stage.threads_flag = "--threads";
  return recording;
}

TEST(Recording, CoreWaitsOfADeviceWidenTheRangeOfOtherThreads) {
  auto recording = two_stages(0.03, 0.1, 2.03);
  recording.stages[1].resource = StageResource::device;
  recording.stages[1].times.busy = Seconds(2);
  const std::vector<Change> threads{{.stage = "decode", .key = "threads", .value = 2}};
  const Fix before = predict(recording, threads);
  recording.stages[1].core_wait = Seconds(0.6);
  const Fix after = predict(recording, threads);
  EXPECT_DOUBLE_EQ(after.items_per_s, before.items_per_s);
  EXPECT_GT(after.high, before.items_per_s / 0.72) << "as if it never waited";
  EXPECT_LT(after.low, before.items_per_s / 1.28) << "as if it waited twice as long";
  const std::vector<Change> speed{{.stage = "decode", .key = "speed", .value = 2}};
  EXPECT_LT(predict(recording, speed).high, after.high) << "as many threads";
}

TEST(Recording, StagesOfOneFlagHaveOneFixThatSetsThemAll) {
  const auto recording = one_flag(0.1, 0.09, 2.09);
  const auto found = diagnose(recording);
  ASSERT_TRUE(found);
  const auto threads = [](const Fix& fix) { return fix.changes[0].key == "threads"; };
  ASSERT_EQ(std::ranges::count_if(found->fixes, threads), 1);
  EXPECT_EQ(found->fixes[0].changes[0].stage, "decode") << "it works most";
  // Two threads of each, on four cores: twice as fast, which more threads of one stage are not.
  EXPECT_NEAR(predict(recording, {{"features", "threads", 2}}).items_per_s, 20 / 1.09, 0.01);
  EXPECT_GE(found->fixes[0].items_per_s, 20 / 1.09 - 0.01);
  for (const Fix& pair : found->together)
    EXPECT_FALSE(std::ranges::all_of(pair.changes, [](const Change& change) { return change.key == "threads"; }));
}

TEST(Recording, RangeOfManyUnevenItemsIsThatOfTheirMean) {
  const auto width = [](std::size_t count) {
    auto recording = two_stages(0.1, 0.03, 0.1 * static_cast<double>(count) + 0.03);
    for (RecordedStage& stage : recording.stages) stage.items.resize(count, stage.items.front());
    for (std::size_t i = 0; i < count; ++i) recording.stages[0].items[i] = Seconds(i % 2 == 0 ? 0.02 : 0.18);
    const Fix fix = predict(recording, {});
    return (fix.high - fix.low) / fix.items_per_s - 2 * kOtherRun;
  };
  // Two deviations of the mean of as many items, on both sides.
  EXPECT_NEAR(width(100), 4 * 0.8 / 10, 0.12);
  EXPECT_NEAR(width(1600), 4 * 0.8 / 40, 0.04);
}

}  // namespace
}  // namespace tutti
