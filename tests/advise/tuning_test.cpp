#include "advise/tuning.h"

#include <gtest/gtest.h>

#include <functional>

#include "advise/replay.h"
#include "base/random/counter_random.h"
#include "support/planted_stages.h"

namespace tutti {
namespace {

/// Three stages of random kinds and times.
PipelineModel random_pipeline(std::uint64_t seed) {
  CounterRandom random(seed);
  PipelineModel pipeline{static_cast<int>(1 + random.below(6)), {}};
  for (const auto* name : {"a", "b", "c"}) {
    const auto resource = static_cast<StageResource>(random.below(3));
    TimesDescription times{.mean = Seconds(random.uniform(0.002, 0.02)), .variation = random.uniform(0, 1.2)};
    if (random.chance(0.3)) times.stall_share = 0.03, times.stall = Seconds(0.2);
    pipeline.stages.push_back(drawn_stage(name, resource, 1, times, 1));
  }
  return pipeline;
}

double rate(const PipelineModel& pipeline) {
  return replay(pipeline, {.items = 4096}).rate();
}

/// The best of all settings within the budget.
double best_rate(PipelineModel pipeline, const TuningBudget& budget) {
  double best = 0;
  const int threads = budget.threads;
  const auto queue = static_cast<int>(budget.queue);
  for (int a = 1; a <= threads - 2; ++a)
    for (int b = 1; a + b <= threads - 1; ++b)
      for (int q = 1; q < queue; ++q) {
        pipeline.stages[0].threads = a;
        pipeline.stages[1].threads = b;
        pipeline.stages[2].threads = threads - a - b;
        pipeline.stages[0].queue = static_cast<std::size_t>(q);
        pipeline.stages[1].queue = static_cast<std::size_t>(queue - q);
        best = std::max(best, replay(pipeline, {.items = 1024}).rate());
      }
  return best;
}

TEST(Tuning, ComesNearTheBestOfAllSettings) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const TuningBudget budget{.threads = 7, .queue = 8};
    const auto pipeline = random_pipeline(seed);
    EXPECT_GE(rate(tuned(pipeline, budget)), 0.95 * best_rate(pipeline, budget)) << "seed " << seed;
  }
}

TEST(Tuning, OpenStagesKeepTheirLeastAndTheirMostThreads) {
  PipelineModel pipeline{8, {}};
  for (const auto* name : {"read", "wait"})
    pipeline.stages.push_back(drawn_stage(name, StageResource::io, 2, {.mean = Seconds(0.02)}, 4));
  pipeline.stages.push_back(drawn_stage("device", StageResource::device, 1, {.mean = Seconds(0.001)}, 1));
  const auto free = tuned_threads(pipeline, {.threads = 60, .open = {true, true, false}});
  EXPECT_GE(free.stages[0].threads, 18) << "as fast as the device";
  const auto bound =
      tuned_threads(pipeline, {.threads = 60, .open = {true, true, false}, .least = {1, 9, 1}, .most = {5, 64, 64}});
  EXPECT_EQ(bound.stages[0].threads, 5);
  EXPECT_EQ(bound.stages[1].threads, 9) << "five would do, and it keeps nine";
  EXPECT_EQ(bound.stages[2].threads, 1);
}

TEST(Tuning, StaysWithinItsBudget) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto settings = tuned(random_pipeline(seed), {.threads = 9, .queue = 11});
    int threads = 0;
    std::size_t queue = 0;
    for (const StageModel& stage : settings.stages) threads += stage.threads;
    for (std::size_t s = 0; s + 1 < settings.stages.size(); ++s) queue += settings.stages[s].queue;
    EXPECT_LE(threads, 9) << seed;
    EXPECT_LE(queue, 11U) << seed;
  }
}

TEST(Tuning, ThreadsThatGainNothingAreLeftOut) {
  const auto settings =
      tuned({8, {even_stage("a", StageResource::io, 1, 20), even_stage("b", StageResource::device, 1, 10)}},
            {.threads = 40, .queue = 8});
  EXPECT_EQ(settings.stages[0].threads, 2);
  EXPECT_EQ(settings.stages[1].threads, 1);
}

TEST(Tuning, OneStageHasNoQueueToTune) {
  const auto settings = tuned({8, {even_stage("only", StageResource::cpu, 1, 10)}}, {.threads = 3, .queue = 1});
  EXPECT_EQ(settings.stages[0].threads, 3);
}

}  // namespace
}  // namespace tutti
