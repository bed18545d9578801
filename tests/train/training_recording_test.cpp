#include "train/report/training_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "advise/cause.h"
#include "feed/corpus.h"
#include "support/environment.h"
#include "train/evaluation/recorded_batches.h"

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

TEST(TrainingRecording, WorkDoneBeforeTakesNoTimeOfItsSteps) {
  // Six batches of eight rows were read before, one of them was taken; fifteen more in 0.2 s each are the other steps'.
  RecordingStart start{.feed = feed_of(6, 0.2, 0, 1), .ring = {.batches = 1}};
  start.feed.stages.stages[0].items_out = 6 * 8;
  start.feed.batches = 1, start.feed.samples = 8;
  FeedReport feed = feed_of(15, 0.2, 0, 1);
  feed.stages.stages[0].items_out = 15 * 8;
  feed.batches = 20, feed.samples = 20 * 8;
  TrainingRecording steps({}, /*goes_on=*/true);
  for (int i = 0; i < 20; ++i) steps.note(Seconds(0.01), Seconds(i < 5 ? 0 : 0.19));
  const auto recording = steps.recording(feed, {.depth = 3, .batches = 20}, start);
  const auto& read = recording.stages[0].items;
  EXPECT_NEAR(read[4].count(), 0, 1e-9);
  EXPECT_NEAR(read[5].count(), 0.2, 1e-9);
  EXPECT_LT(model_error(recording), 0.02);
  const Fix twice = predict(recording, {{.stage = "read", .key = "threads", .value = 2}});
  EXPECT_NEAR(twice.items_per_s, 20 / 1.6, 0.5) << "eight times two of the fifteen at once";
}

TEST(TrainingRecording, ProbingAheadOfThePlanIsNoWorkOfItsSteps) {
  FeedReport feed = feed_of(20, 0.2, 0, 1);
  feed.stages.stages[0].name = "probe";
  feed.stages.stages[0].items_out = 250;
  feed.stages.stages[1].name = "plan";
  feed.stages.stages[1].items_in = 200;
  feed.stages.stages[1].items_out = 160;
  feed.batches = 15, feed.samples = 15 * 8;
  const auto recording = recorded(20, 0.01, 0.15).recording(feed, {.depth = 3, .batches = 20});
  EXPECT_NEAR(recording.stages[0].items[7].count(), 20 * 0.2 / 250 * 10, 1e-9) << "ten lines for eight rows";
}

TEST(TrainingRecording, StagesThatTakeNoTimeAreLeftOut) {
  const auto recording = recorded(20, 0.1, 0).recording(feed_of(20, 0, 0.05, 0), {.depth = 3});
  ASSERT_EQ(recording.stages.size(), 2U);
  EXPECT_EQ(recording.stages[0].name, "features");
}

/// Takes all batches of a feed that decodes audio, each decoded for a while.
RunRecording evaluation_of(const Corpus& corpus, std::chrono::milliseconds a_batch) {
  Feed feed = opened(options_for(corpus.manifest()));
  RecordedBatches batches(feed);
  for (auto batch = batches.next(); batch && *batch; batch = batches.next()) std::this_thread::sleep_for(a_batch);
  return batches.end();
}

TEST(RecordedBatches, SlowDecoderIsTheLimitBesideTheFeedsDecode) {
  const auto recording = evaluation_of(Corpus(std::vector<double>(80, 0.5)), std::chrono::milliseconds(30));
  EXPECT_TRUE(std::ranges::count(recording.stages, std::string("decode"), &RecordedStage::name) == 1)
      << "the feed's stage is in it";
  ASSERT_EQ(recording.stages.back().items.size(), 20U);
  const auto found = diagnose(recording);
  ASSERT_TRUE(found) << model_error(recording);
  EXPECT_EQ(found->limit.stage, "transcribe");
  EXPECT_EQ(cause_of(found->limit), Cause::device_compute);
  EXPECT_GT(found->limit.share, 0.3) << "all of the time is the decoder's";
}

TEST(RecordedBatches, ProfiledEvaluationHasATimeline) {
  const ScopedVariable wanted(kRecordingVariable, "/nowhere/recording.json");
  const auto recording = evaluation_of(Corpus(std::vector<double>(40, 0.5)), std::chrono::milliseconds(150));
  ASSERT_GE(recording.timeline.at.size(), 2U);
  EXPECT_GT(recording.timeline.done.back(), recording.timeline.done.front());
  EXPECT_EQ(recording.timeline.stages.back().name, "transcribe");
  EXPECT_GT(recording.timeline.stages.back().busy.back(), 0.8);
}

}  // namespace
}  // namespace tutti
