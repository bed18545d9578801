#include "advise/replay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/planted_stages.h"

namespace tutti {
namespace {

using enum StageResource;

double rate(const PipelineModel& pipeline) {
  return replay(pipeline, {.items = 10000}).rate();
}

TEST(Replay, ThreadsOfAWaitingStageAddUp) {
  EXPECT_NEAR(rate({1, {even_stage("read", io, 5, 10)}}), 500, 1);
}

TEST(Replay, CoresBoundAllCpuStagesTogether) {
  EXPECT_NEAR(rate({2, {even_stage("decode", cpu, 4, 6), even_stage("mel", cpu, 4, 4)}}), 200, 1);
}

TEST(Replay, WaitingItemsHoldNoCore) {
  StageModel decode = even_stage("decode", cpu, 4, 10);
  decode.on_core = 0.25;
  EXPECT_NEAR(rate({2, {decode}}), 400, 2);
  decode.threads = 32;
  EXPECT_NEAR(rate({2, {decode}}), 800, 4) << "two cores for 2.5 ms each";
  decode.on_core = 1;
  EXPECT_NEAR(rate({2, {decode}}), 200, 1);
}

TEST(Replay, DeviceTakesOneItemHoweverManyThreads) {
  EXPECT_NEAR(rate({1, {even_stage("train", device, 4, 8)}}), 125, 0.5);
}

TEST(Replay, SlowestStageSetsTheRate) {
  const PipelineModel pipeline{8, {even_stage("a", io, 1, 2), even_stage("b", cpu, 2, 20), even_stage("c", io, 1, 3)}};
  const auto played = replay(pipeline);
  EXPECT_NEAR(played.rate(), 100, 0.5);
  EXPECT_NEAR(played.stages[1].busy, 1, 0.01);
  EXPECT_NEAR(played.stages[0].blocked, 0.8, 0.02);
  EXPECT_NEAR(played.stages[2].starved, 0.7, 0.02);
}

// Two exponential-like stages with a queue between: the longer the queue, the less they wait for one another.
TEST(Replay, LongerQueueBetweenUnevenStagesGains) {
  const TimesDescription uneven{.mean = Seconds(0.01), .variation = 1};
  double before = 0;
  for (const std::size_t queue : {1U, 4U, 32U}) {
    const double now = rate({4, {drawn_stage("a", io, 1, uneven, queue), drawn_stage("b", io, 1, uneven)}});
    EXPECT_GT(now, before * 1.05) << queue;
    before = now;
  }
  EXPECT_LT(before, 100);
}

// Two stages with exponential times, one item between them: the states hold 0 to 3 items and are equally likely, so the
// second stage works three quarters of the time.
TEST(Replay, MatchesClosedFormOfExponentialTandem) {
  CounterRandom random(42);
  const auto exponential = [&](std::size_t count) {
    auto items = std::make_shared<std::vector<ItemTime>>(count);
    for (ItemTime& item : *items) item.work = Seconds(-0.01 * std::log(1 - random.uniform()));
    return items;
  };
  const PipelineModel pipeline{1,
                               {{.name = "a", .resource = io, .queue = 1, .times = exponential(100000)},
                                {.name = "b", .resource = io, .queue = 1, .times = exponential(100000)}}};
  EXPECT_NEAR(replay(pipeline, {.items = 100000}).rate(), 75, 0.75);
}

// Fetched for 15 ms, then for 5 while the one before is worked on for 10: each second one waits 5 ms for that.
TEST(Replay, WithoutAQueueAnItemWaitsInItsThread) {
  StageModel fetch = even_stage("fetch", io, 1, 10);
  fetch.times = std::make_shared<std::vector<ItemTime>>(
      std::vector<ItemTime>{{.work = Seconds(0.015)}, {.work = Seconds(0.005)}});
  const StageModel work = even_stage("work", io, 1, 10);
  fetch.queue = 8;
  EXPECT_NEAR(rate({1, {fetch, work}}), 100, 0.5);
  fetch.queue = 0;
  EXPECT_NEAR(rate({1, {fetch, work}}), 80, 0.5);
}

TEST(Replay, BlockedItemKeepsItsThreadAndNotItsCore) {
  // "a" is blocked behind a slow device nearly always; "b" gets the only core all the same.
  const PipelineModel pipeline{
      1, {even_stage("a", cpu, 2, 1, 1), even_stage("slow", device, 1, 10, 1), even_stage("b", cpu, 1, 8, 1)}};
  EXPECT_NEAR(rate(pipeline), 100, 1);
}

TEST(Replay, StallsAreNotShorterInAFasterStage) {
  PipelineModel pipeline{1,
                         {drawn_stage("a", io, 1, {.mean = Seconds(0.01), .stall_share = 0.1, .stall = Seconds(0.1)})}};
  EXPECT_NEAR(rate(pipeline), 50, 0.5);
  pipeline.stages[0].speed = 2;
  EXPECT_NEAR(rate(pipeline), 1 / 0.015, 0.7);
}

TEST(Replay, EndsAtItsTime) {
  const auto played = replay({1, {even_stage("a", io, 1, 10)}}, {.items = 1000, .time = Seconds(0.1051)});
  EXPECT_EQ(played.done_at.size(), 10U);
}

TEST(RateBetween, SteadyStreamHasItsRateOverAnyInterval) {
  std::vector<Seconds> done;
  for (int i = 1; i <= 100; ++i) done.emplace_back(0.1 * i);
  EXPECT_NEAR(rate_between(done, Seconds(1.03), Seconds(2.99)), 10, 1e-6);
  EXPECT_NEAR(rate_between(done, Seconds(2), Seconds(4.55)), 10, 1e-6);
  EXPECT_EQ(rate_between({}, Seconds(0), Seconds(1)), 0);
}

}  // namespace
}  // namespace tutti
