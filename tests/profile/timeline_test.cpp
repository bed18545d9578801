#include "profile/timeline.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// One stage that has been busy and starved for so many seconds.
std::vector<PhaseSample> stage_of(double busy, double starved, std::size_t queued = 0) {
  StageReport stage{};
  stage.name = "decode";
  stage.times.busy = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * busy));
  stage.times.starved = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * starved));
  stage.output = {.items = queued, .limits = {.items = 4}};
  return phases_of({stage});
}

TEST(RunTimeline, BusyShareIsThatOfEachInterval) {
  TimelineRecorder recorder;
  recorder.sample(1, 3, stage_of(1, 0, 2));
  recorder.sample(2, 5, stage_of(1.25, 0.75, 4));
  const auto& timeline = recorder.timeline();
  ASSERT_EQ(timeline.stages.size(), 1U);
  EXPECT_EQ(timeline.done, (std::vector<std::size_t>{3, 5}));
  EXPECT_NEAR(timeline.stages[0].busy[0], 1, 1e-9);
  EXPECT_NEAR(timeline.stages[0].busy[1], 0.25, 1e-9);
  EXPECT_NEAR(timeline.stages[0].queue[1], 1, 1e-9);
  EXPECT_NEAR(*mean_fill(timeline, "decode"), 0.75, 1e-9);
  EXPECT_FALSE(mean_fill(timeline, "other"));
}

TEST(RunTimeline, LongRunKeepsABoundedNumberOfIntervals) {
  TimelineRecorder recorder;
  for (int i = 1; i <= 20000; ++i) recorder.sample(0.5 * i, static_cast<std::size_t>(i), stage_of(0.25 * i, 0.25 * i));
  const auto& timeline = recorder.timeline();
  EXPECT_LT(timeline.at.size(), 2048U);
  EXPECT_GT(timeline.at.size(), 900U);
  EXPECT_EQ(timeline.at.size(), timeline.stages[0].busy.size());
  EXPECT_NEAR(timeline.stages[0].busy.back(), 0.5, 1e-6);
  EXPECT_GT(timeline.at.back(), 9990);
}

}  // namespace
}  // namespace tutti
