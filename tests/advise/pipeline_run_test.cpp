#include "advise/pipeline_run.h"

#include <gtest/gtest.h>

#include "support/planted_stages.h"

namespace tutti {
namespace {

/// What a replay of one stage with one thread, 10 ms an item, would be as a run.
PipelineRun even_run(double ms_an_item) {
  PipelineRun run{.part = {Seconds(1), Seconds(3)}, .stages = {{}}};
  for (std::size_t i = 0; i < 400; ++i) {
    const Seconds begin(static_cast<double>(i) * ms_an_item / 1000), end = begin + Seconds(ms_an_item / 1000);
    run.stages[0].push_back({i, begin, begin, end, end});
  }
  return run;
}

TEST(PipelineRun, FiguresAreOfTheMeasuredPart) {
  const PipelineModel pipeline{1, {even_stage("a", StageResource::cpu, 1, 10)}};
  const auto figures = figures_of(pipeline, even_run(10));
  EXPECT_NEAR(figures.items_per_s, 100, 0.01);
  EXPECT_EQ(figures.stages[0].items, 200U);
  EXPECT_NEAR(figures.stages[0].shares.busy, 1, 1e-6);
  EXPECT_NEAR(figures.stages[0].mean.count(), 0.01, 1e-9);
  EXPECT_NEAR(figures.stages[0].p95.count(), 0.01, 1e-9);
}

TEST(PipelineRun, ModelExplainsARunOfItsOwnItems) {
  const PipelineModel pipeline{1, {even_stage("a", StageResource::cpu, 1, 10)}};
  EXPECT_LT(model_error(pipeline, even_run(10)), 0.001);
}

TEST(PipelineRun, SlowerRunThanDescribedIsNotExplained) {
  const PipelineModel pipeline{1, {even_stage("a", StageResource::cpu, 1, 10)}};
  EXPECT_NEAR(model_error(pipeline, even_run(15)), 0.5, 0.01);
}

TEST(PipelineRun, UnfinishedItemCountsAsBusyAndNotAsDone) {
  const PipelineModel pipeline{1, {even_stage("a", StageResource::io, 1, 10)}};
  PipelineRun run{.part = {Seconds(0), Seconds(1)},
                  .stages = {{{.item = 0, .taken = Seconds(0.5), .began = Seconds(0.5)}}}};
  const auto figures = figures_of(pipeline, run);
  EXPECT_EQ(figures.stages[0].items, 0U);
  EXPECT_NEAR(figures.stages[0].shares.busy, 0.5, 1e-9);
  EXPECT_NEAR(figures.stages[0].shares.starved, 0.5, 1e-9);
}

TEST(RepresentativePart, SlowFillingPipelineIsMeasuredLater) {
  // The first stage keeps the only core until its long queue is full.
  const PipelineModel pipeline{
      1,
      {even_stage("read", StageResource::cpu, 3, 14, 64), even_stage("wait", StageResource::io, 1, 6),
       even_stage("copy", StageResource::cpu, 2, 3)}};
  const Seconds length(2);
  const auto part = representative_part(pipeline, length);
  EXPECT_GT(part.from, 0.25 * length);
  EXPECT_EQ(part.to - part.from, length);
}

TEST(RepresentativePart, ReplayHasTheLongRunsRateThere) {
  const PipelineModel pipeline{
      2,
      {drawn_stage("a", StageResource::cpu, 1,
                   {.mean = Seconds(0.02), .variation = 1.2, .stall_share = 0.02, .stall = Seconds(0.2)}),
       drawn_stage("b", StageResource::cpu, 2, {.mean = Seconds(0.03), .variation = 0.8})}};
  const auto part = representative_part(pipeline, Seconds(2));
  const auto played = replay(pipeline, {.items = 100000, .time = part.to, .first_item = part.first_item});
  EXPECT_NEAR(rate_between(played.done_at, part.from, part.to) / replay(pipeline, {.items = 12000}).rate(), 1, 0.02);
}

}  // namespace
}  // namespace tutti
