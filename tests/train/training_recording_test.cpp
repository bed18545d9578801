#include "train/report/training_recording.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// A feed whose stage "read" took `read` seconds a step and "features" `features`, over `steps` steps.
FeedReport feed_of(int steps, double read, double features, int threads) {
  FeedReport feed;
  for (const auto& [name, time] : {std::pair{"read", read}, std::pair{"features", features}}) {
    StageReport stage{};
    stage.name = name;
    stage.threads.busy = threads;
    stage.times.busy = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * time * steps));
    stage.output.limits.items = 8;
    feed.stages.stages.push_back(stage);
  }
  return feed;
}

TrainingRecording recorded(int steps, double stepping, double waited) {
  TrainingRecording recording;
  for (int i = 0; i < steps; ++i) {
    recording.note(Seconds(stepping), Seconds(i == 0 ? 3 : waited));
    if (recording.wants_threads()) recording.note_threads(feed_of(1, 1, 1, 2));
  }
  return recording;
}

TEST(TrainingRecording, WaitBeforeTheFirstStepDoesNotCount) {
  const auto recording = recorded(50, 0.1, 0.02).recording(feed_of(50, 0.12, 0.01, 0), {.depth = 3});
  EXPECT_NEAR(recording.elapsed.count(), 50 * 0.1 + 49 * 0.02, 1e-9);
  EXPECT_EQ(recording.stages.back().items.size(), 50U);
}

TEST(TrainingRecording, ThreadsAreThoseOfAFeedAtWork) {
  const auto recording = recorded(50, 0.1, 0.02).recording(feed_of(50, 0.12, 0.01, 0), {.depth = 3});
  EXPECT_EQ(recording.stages[0].threads, 2);
}

TEST(TrainingRecording, FeedThatIsTooSlowIsTheLimit) {
  const auto recording = recorded(100, 0.05, 0.05).recording(feed_of(100, 0.2, 0.01, 0), {.depth = 3});
  const auto found = diagnose(recording);
  ASSERT_TRUE(found) << model_error(recording);
  EXPECT_EQ(found->limit.stage, "read");
  EXPECT_EQ(found->fixes[0].changes[0].text().substr(0, 12), "read.threads");
}

TEST(TrainingRecording, StepBoundByItselfDoesNotBlameTheFeed) {
  const auto recording = recorded(100, 0.3, 0).recording(feed_of(100, 0.1, 0.1, 0), {.depth = 3});
  const auto found = diagnose(recording);
  ASSERT_TRUE(found) << model_error(recording);
  EXPECT_EQ(found->limit.stage, "step");
  for (const Fix& fix : found->fixes) EXPECT_EQ(fix.changes[0].stage, "step");
}

TEST(TrainingRecording, StagesThatTakeNoTimeAreLeftOut) {
  const auto recording = recorded(20, 0.1, 0).recording(feed_of(20, 0, 0.05, 0), {.depth = 3});
  ASSERT_EQ(recording.stages.size(), 2U);
  EXPECT_EQ(recording.stages[0].name, "features");
}

}  // namespace
}  // namespace tutti
