#include "train/report/training_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "advise/cause.h"
#include "feed/corpus.h"
#include "support/scoped_recording.h"
#include "train/evaluation/recorded_batches.h"

namespace tutti {
namespace {

/// A feed with stages "read" and "features" of so many threads.
FeedReport feed_of(int threads) {
  FeedReport feed;
  for (const char* name : {"read", "features"}) {
    StageReport stage{};
    stage.name = name;
    stage.threads.busy = threads;
    stage.output.limits.items = 8;
    feed.stages.stages.push_back(stage);
  }
  return feed;
}

/// A training on a clock that is moved by hand. A batch has eight rows.
class Steps {
 public:
  explicit Steps(bool goes_on = true) : recording_({}, goes_on) {}

  /// The next step, for whose batch `read` was at work from so long before the step's end on, for `busy`.
  void step(double stepping, double waited, double busy, double begun_before, double features = 0) {
    now_ += after(stepping + waited);
    BatchTimes made;
    const auto first = now_ - after(begun_before);
    made.feed.add("read", {Seconds(busy), first, first + after(busy)});
    if (features > 0) made.feed.add("features", {Seconds(features), first, first + after(features)});
    recording_.note({.stepping = Seconds(stepping), .waited = Seconds(waited), .ended = now_, .samples = 8}, made);
    if (recording_.wants_threads()) recording_.note_threads(feed_of(threads_));
  }
  void pause(double seconds) { now_ += after(seconds); }
  RunRecording recording(int depth = 3) const { return recording_.recording(feed_of(0), {.depth = depth}); }
  TrainingRecording& all() { return recording_; }
  Clock::Instant now() const { return now_; }

 private:
  static Clock::Instant::duration after(double seconds) {
    return std::chrono::duration_cast<Clock::Instant::duration>(Seconds(seconds));
  }
  TrainingRecording recording_;
  Clock::Instant now_{std::chrono::hours(1)};
  int threads_ = 1;
};

TEST(TrainingRecording, WaitBeforeTheFirstStepDoesNotCount) {
  Steps steps(/*goes_on=*/false);
  for (int i = 0; i < 50; ++i) steps.step(0.1, i == 0 ? 3 : 0.02, 0.12, 0.12);
  const auto recording = steps.recording();
  EXPECT_NEAR(recording.elapsed.count(), 50 * 0.1 + 49 * 0.02, 1e-9);
  EXPECT_EQ(recording.stages.back().items.size(), 50U);
}

TEST(TrainingRecording, ThreadsAreThoseOfAFeedAtWork) {
  Steps steps;
  for (int i = 0; i < 50; ++i) {
    steps.step(0.1, 0, 0.1, 0.1);
    if (steps.all().wants_threads()) steps.all().note_threads(feed_of(2));
  }
  EXPECT_EQ(steps.recording().stages[0].threads, 1) << "of the first report";
}

TEST(TrainingRecording, FeedThatIsTooSlowIsTheLimit) {
  Steps steps;
  for (int i = 0; i < 100; ++i) steps.step(0.05, 0.15, 0.2, 0.35);
  const auto found = diagnose(steps.recording());
  ASSERT_TRUE(found) << model_error(steps.recording());
  EXPECT_EQ(found->limit.stage, "read");
  EXPECT_EQ(found->fixes[0].changes[0].text().substr(0, 12), "read.threads");
}

TEST(TrainingRecording, StepBoundByItselfDoesNotBlameTheFeed) {
  Steps steps;
  for (int i = 0; i < 100; ++i) steps.step(0.3, 0, 0.1, 0.9, 0.1);
  const auto found = diagnose(steps.recording());
  ASSERT_TRUE(found) << model_error(steps.recording());
  EXPECT_EQ(found->limit.stage, "step");
  for (const Fix& fix : found->fixes) EXPECT_EQ(fix.changes[0].stage, "step");
}

TEST(TrainingRecording, WorkDoneBeforeTakesNoTimeOfItsSteps) {
  Steps steps;
  // Five batches were read before; fifteen more in 0.2 s each are the other steps'.
  for (int i = 0; i < 20; ++i) steps.step(0.01, i < 5 ? 0 : 0.19, 0.2, i < 5 ? 2 + i * 0.01 : 0.21);
  const auto recording = steps.recording();
  const auto& read = recording.stages[0].items;
  EXPECT_NEAR(read[4].count(), 0, 1e-9);
  EXPECT_NEAR(read[5].count(), 0.2, 0.011);
  EXPECT_LT(model_error(recording), 0.02);
  const Fix twice = predict(recording, {{.stage = "read", .key = "threads", .value = 2}});
  EXPECT_NEAR(twice.items_per_s, 20 / 1.6, 0.6) << "eight times two of the fifteen at once";
}

TEST(TrainingRecording, WorkDoneInAPauseTakesNoTimeOfItsSteps) {
  Steps steps;
  for (int epoch = 0; epoch < 4; ++epoch) {
    // The evaluation lasted as long as it takes to read five batches, of which half a one was left.
    for (int i = 0; i < 5; ++i) steps.step(0.05, 0, 0.2, 0.05 * (i + 1) + 1.0 - 0.2 * i);
    for (int i = 0; i < 10; ++i) steps.step(0.05, i == 0 ? 0 : 0.15, 0.2, i == 0 ? 0.25 : 0.2);
    steps.pause(1);
  }
  const auto recording = steps.recording();
  EXPECT_NEAR(recording.elapsed.count(), 4 * (15 * 0.05 + 9 * 0.15), 1e-6) << "without the evaluations";
  const auto& read = recording.stages[0].items;
  EXPECT_NEAR(read[16].count(), 0, 1e-6) << "read while the network was evaluated";
  EXPECT_NEAR(read[25].count(), 0.2, 1e-6);
  const auto found = diagnose(recording);
  ASSERT_TRUE(found) << model_error(recording);
  EXPECT_EQ(found->limit.stage, "read");
}

TEST(TrainingRecording, RowsReadOnBothSidesOfAPauseCountWhereTheyWereRead) {
  Steps steps;
  for (int i = 0; i < 20; ++i) steps.step(0.1, 0, 0.01, 0.05);
  steps.pause(10);
  // One row was read as the pause began, the others behind it.
  BatchTimes made;
  const auto now = steps.now() + std::chrono::seconds(1);
  made.feed.add("read", {Seconds(0.1), now - std::chrono::seconds(11), now - std::chrono::milliseconds(10900)});
  for (int row = 3; row > 0; --row)
    made.feed.add("read", {Seconds(0.1), now - std::chrono::milliseconds(100 * row),
                           now - std::chrono::milliseconds(100 * row - 100)});
  steps.all().note({.stepping = Seconds(1), .ended = now, .samples = 4}, made);
  EXPECT_NEAR(steps.recording().stages[0].items.back().count(), 0.3, 1e-6);
}

TEST(TrainingRecording, WhatAThreadDidInAPauseIsLeftOut) {
  Steps steps;
  for (int i = 0; i < 20; ++i) steps.step(0.1, 0, 0.05, 0.1);
  TrainingCounts before{.feed = feed_of(1)}, after{.feed = feed_of(1), .core_wait = Seconds(2), .launched = Seconds(3)};
  after.feed.stages.stages[0].times.blocked = std::chrono::seconds(5);
  steps.all().note_pause(before, after);
  EXPECT_EQ(steps.all().paused_core_wait(), Seconds(2));
  EXPECT_EQ(steps.all().paused_launches(), Seconds(3));
  auto feed = feed_of(1);
  feed.stages.stages[0].times.blocked = std::chrono::seconds(6);
  EXPECT_EQ(steps.all().recording(feed, {.depth = 3}).stages[0].times.blocked, Seconds(1));
}

TEST(TrainingRecording, QueueOfRowsHoldsTheStepsOfFewBatches) {
  Steps steps;
  for (int i = 0; i < 20; ++i) steps.step(0.1, 0, 0.05, 0.1, 0.05);
  auto feed = feed_of(1);
  feed.stages.stages[0].output.limits.items = 32;
  EXPECT_EQ(steps.all().recording(feed, {.depth = 3}).stages[0].queue, 1U);
  feed.stages.stages[0].name = "probe";
  EXPECT_EQ(steps.all().recording(feed, {.depth = 3}).stages.size(), 2U) << "it did nothing for them";
}

TEST(TrainingRecording, StagesThatTakeNoTimeAreLeftOut) {
  Steps steps;
  for (int i = 0; i < 20; ++i) steps.step(0.1, 0, 1e-6, 0.1, 0.05);
  const auto recording = steps.recording();
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
  const ScopedRecording wanted({.recording = "/nowhere/recording.json"});
  const auto recording = evaluation_of(Corpus(std::vector<double>(40, 0.5)), std::chrono::milliseconds(150));
  ASSERT_GE(recording.timeline.at.size(), 2U);
  EXPECT_GT(recording.timeline.done.back(), recording.timeline.done.front());
  EXPECT_EQ(recording.timeline.stages.back().name, "transcribe");
  EXPECT_GT(recording.timeline.stages.back().busy.back(), 0.8);
}

}  // namespace
}  // namespace tutti
