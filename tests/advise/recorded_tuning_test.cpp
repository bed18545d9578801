#include "advise/recorded_tuning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "advise/two_stages.h"

namespace tutti {
namespace {

TEST(RecordedTuning, ThreadsShareTheWorkWithinTheirNumber) {
  const auto recording = two_stages(0.1, 0.1, 2.1);  // neither stage gains alone
  const auto changes = tuned_settings(recording, {.threads = 8});
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].value, 2) << "four cores";
  EXPECT_EQ(changes[1].value, 2);
  EXPECT_TRUE(tuned_settings(recording, {.threads = 2}).empty());
}

/// As a training's feed has them: one flag for both.
RunRecording one_flag(double decode, double features, double elapsed) {
  auto recording = two_stages(decode, features, elapsed);
  for (RecordedStage& stage : recording.stages) stage.threads_flag = "--threads";
  return recording;
}

TEST(RecordedTuning, CountsAFlagOnce) {
  const auto recording = one_flag(0.1, 0.1, 2.1);
  const auto changes = tuned_settings(recording, {.threads = 2});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].value, 2) << "--threads 2 is within 2";
  EXPECT_NEAR(predict(recording, changes).items_per_s, 20 / 1.1, 0.5);
  EXPECT_TRUE(tuned_settings(recording, {.threads = 1}).empty());
}

TEST(RecordedTuning, LeavesStagesWithoutAFlagAlone) {
  auto recording = two_stages(0.1, 0.03, 2.03);
  recording.stages[0].threads_flag.clear();
  EXPECT_TRUE(tuned_settings(recording, {.threads = 8}).empty());
}

/// A batch takes 0.1 s to make ready and every eighth step 0.45 s, the others 0.05 s: a ring of one cannot bridge that.
RunRecording uneven_steps() {
  RunRecording recording{.command = "train", .unit = "steps", .cores = 4};
  recording.stages.push_back({.name = "ring", .queue = 1, .queue_flag = "--ring-depth"});
  recording.stages.push_back({.name = "step", .resource = StageResource::device});
  for (int i = 0; i < 400; ++i) {
    recording.stages[0].items.emplace_back(0.1);
    recording.stages[1].items.emplace_back(i % 8 == 7 ? 0.45 : 0.05);
  }
  recording.elapsed = Seconds(400 / rate_of_run(model_of(recording)));
  return recording;
}

TEST(RecordedTuning, DeeperRingBridgesUnevenSteps) {
  const auto recording = uneven_steps();
  const auto changes = tuned_settings(recording, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].stage, "ring");
  EXPECT_EQ(changes[0].key, "queue");
  EXPECT_GE(changes[0].value, 3);
  EXPECT_LE(changes[0].value, 5) << "more waits for nothing: 0.45 s are not five batches";
  EXPECT_GT(predict(recording, changes).items_per_s, 1.1 * rate_of(recording));
}

TEST(RecordedTuning, MemoryBoundsTheItemsInWork) {
  const auto recording = uneven_steps();  // three items: two in threads, one that waits
  EXPECT_TRUE(tuned_settings(recording, {.growth = 1.3}).empty());
  EXPECT_FALSE(growth_within(Bytes{200}, Bytes{100}));
  EXPECT_TRUE(std::isinf(*growth_within(Bytes{200}, Bytes{0})));
  const auto changes = tuned_settings(recording, {.growth = *growth_within(Bytes{100}, Bytes{170})});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].value, 3);
}

}  // namespace
}  // namespace tutti
