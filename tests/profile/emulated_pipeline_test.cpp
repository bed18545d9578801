#include "profile/emulated_pipeline.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"
#include "profile/fair_permits.h"
#include "support/planted_stages.h"

namespace tutti {
namespace {

using enum StageResource;

PipelineModel pipeline() {
  return {3,
          {drawn_stage("read", io, 2, {.mean = Seconds(0.008), .variation = 0.5}),
           drawn_stage("decode", cpu, 2, {.mean = Seconds(0.012), .variation = 0.3}),
           drawn_stage("step", device, 2, {.mean = Seconds(0.004), .variation = 0.1})}};
}

TEST(EmulatedPipelineTimed, RunsAtTheRateOfItsReplay) {
  const auto model = pipeline();
  const auto run = run_emulated(model, {.part = representative_part(model, Seconds(1))});
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_LT(model_error(model, *run), kMostModelError);
  const auto figures = figures_of(model, *run);
  EXPECT_NEAR(figures.items_per_s, 2 / 0.012, 8);
  for (const StageFigures& stage : figures.stages)
    EXPECT_NEAR(stage.shares.busy + stage.shares.starved + stage.shares.blocked, 1, 0.001);
}

TEST(EmulatedPipelineTimed, StageSlowerThanDescribedShows) {
  const auto model = pipeline();
  const auto run = run_emulated(model, {.part = {Seconds(0.3), Seconds(1.3)}, .slowed = {{1, 1.5}}});
  ASSERT_TRUE(run) << run.error().text();
  const auto figures = figures_of(model, *run);
  EXPECT_NEAR(figures.items_per_s, 2 / 0.018, 8);
  EXPECT_NEAR(figures.stages[1].mean.count(), 0.018, 0.001);
  EXPECT_GT(model_error(model, *run), 0.3);
}

TEST(EmulatedPipelineTimed, ThreadsOfShortRunAreNeverBusierThanTime) {
  const PipelineModel model{2, {even_stage("read", io, 4, 200, 2), even_stage("step", device, 2, 150)}};
  const auto run = run_emulated(model, {.part = {Seconds(0.2), Seconds(0.6)}});
  ASSERT_TRUE(run) << run.error().text();
  for (const StageFigures& stage : figures_of(model, *run).stages)
    EXPECT_LE(stage.shares.busy + stage.shares.blocked, 1.001);
}

TEST(EmulatedPipelineTimed, HasMoreCoresThanTheMachine) {
  const PipelineModel model{64, {drawn_stage("decode", cpu, 64, {.mean = Seconds(0.04), .variation = 0.3})}};
  const auto run = run_emulated(model, {.part = {Seconds(0.3), Seconds(1.3)}});
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_NEAR(figures_of(model, *run).items_per_s, 1600, 60);
}

TEST(EmulatedPipelineTimed, LongItemsDoNotDelayTheEnd) {
  const auto before = Clock::real().now();
  const PipelineModel model{1, {even_stage("slow", io, 1, 60000)}};
  ASSERT_TRUE(run_emulated(model, {.part = {Seconds(0), Seconds(0.1)}}));
  EXPECT_LT(Seconds(Clock::real().now() - before), Seconds(5));
}

TEST(FairPermits, AreGivenInTheOrderOfRequests) {
  FairPermits permits(1);
  ASSERT_EQ(permits.acquire(Seconds(1)), Seconds(1));
  std::optional<Seconds> second;
  std::thread waiting([&] { second = permits.acquire(Seconds(2)); });
  permits.release(Seconds(5));
  waiting.join();
  EXPECT_EQ(second, Seconds(5));
}

TEST(FairPermits, StopSendsWaitersAway) {
  FairPermits permits(1);
  ASSERT_TRUE(permits.acquire(Seconds(0)));
  std::optional<Seconds> second = Seconds(0);
  std::thread waiting([&] { second = permits.acquire(Seconds(0)); });
  permits.stop();
  waiting.join();
  EXPECT_FALSE(second);
  EXPECT_FALSE(permits.acquire(Seconds(0)));
}

}  // namespace
}  // namespace tutti
