#include "balance/window_cost.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

constexpr double kFourOfFive = 1.2816;  // standard deviations to either side

/// A device whose full window takes a second, `fixed` of it whatever is in the window.
struct Truth {
  double fixed = 0;
  Seconds window(Seconds audio) const { return Seconds(fixed + (1 - fixed) * (audio / kFullWindow)); }
  WindowWork run(double windows, Seconds each, int capacity = 10) const {
    return {.windows = windows, .audio = windows * each, .busy = windows * window(each), .capacity = capacity};
  }
};

double predicted(const WindowCost& cost, const WindowWork& work) {
  return work.windows * cost.fixed().count() + work.audio.count() / cost.speed();
}

TEST(WindowCost, BandFromClipsCoversLongRecordingsAtAnyFixedCost) {
  for (const double windows : {10.0, 400.0})
    for (const double fixed : {0.15, 0.3, 0.45, 0.6, 0.75, 0.85}) {
      const Truth truth{fixed};
      const std::vector<WindowWork> clips{truth.run(windows, Seconds(15))};
      const WindowCost cost(clips);
      const WindowWork lectures = truth.run(600, kFullWindow);
      const double expected = predicted(cost, lectures), band = kFourOfFive * cost.error(lectures);
      EXPECT_LE(expected / (1 + band), lectures.busy.count()) << fixed << " fixed, from " << windows;
      EXPECT_GE(expected / (1 - band), lectures.busy.count()) << fixed << " fixed, from " << windows;
      EXPECT_NEAR(predicted(cost, clips[0]) / clips[0].busy.count(), 1, 1e-9) << "the same again takes as long again";
    }
}

TEST(WindowCost, ErrorGrowsAwayFromMeasuredLengths) {
  const Truth truth{0.5};
  const std::vector<WindowWork> clips{truth.run(400, Seconds(15))};
  const WindowCost cost(clips);
  const double alike = cost.error(truth.run(400, Seconds(15)));
  EXPECT_LT(alike, 0.1);
  EXPECT_GT(cost.error(truth.run(400, Seconds(20))), alike);
  EXPECT_GT(cost.error(truth.run(400, Seconds(30))), 0.15);
  EXPECT_GT(cost.error(truth.run(400, Seconds(5))), alike + 0.05);
  EXPECT_GT(cost.error(truth.run(10, Seconds(15))), 0.2) << "a run that fills its places but once";
}

TEST(WindowCost, RunsOfOneWindowLengthDoNotRevealFixedCost) {
  for (const double fixed : {0.15, 0.5, 0.85}) {
    const Truth truth{fixed};
    const std::vector<WindowWork> clips(20, truth.run(400, Seconds(15)));
    const WindowCost cost(clips);
    EXPECT_LT(cost.error(truth.run(400, Seconds(15))), 0.05) << "of the same again they tell much";
    const WindowWork lectures = truth.run(600, kFullWindow);
    const double expected = predicted(cost, lectures), band = kFourOfFive * cost.error(lectures);
    EXPECT_LE(expected / (1 + band), lectures.busy.count()) << fixed;
    EXPECT_GE(expected / (1 - band), lectures.busy.count()) << fixed;
  }
}

TEST(WindowCost, RunsOfDifferentWindowLengthsRevealFixedCost) {
  for (const double fixed : {0.0, 0.2, 0.7}) {
    const Truth truth{fixed};
    std::vector<WindowWork> runs;
    for (int i = 0; i < 3; ++i) {
      runs.push_back(truth.run(400, Seconds(30)));
      runs.push_back(truth.run(400, Seconds(10)));
    }
    const WindowCost cost(runs);
    EXPECT_NEAR(cost.fixed().count(), fixed, 0.05);
    EXPECT_NEAR(cost.through(kFullWindow), 30, 1.5);
    EXPECT_LT(cost.error(truth.run(400, Seconds(30))), 0.1);
  }
}

TEST(WindowCost, LongRunsOutweighASingleSlowWindow) {
  const Truth truth{0.4};
  WindowWork slow = truth.run(1, Seconds(30));
  slow.busy *= 4;  // a single window, with nothing beside it
  const std::vector<WindowWork> runs{slow, truth.run(400, Seconds(30)), truth.run(400, Seconds(30))};
  EXPECT_NEAR(WindowCost(runs).through(kFullWindow), 30, 1.5);
}

TEST(WindowCost, ItsBandIsNoNarrowerThanRunsDifferedFromEachOther) {
  const Truth truth{0.4};
  std::vector<WindowWork> alike, unlike;
  for (int i = 0; i < 12; ++i) {
    alike.push_back(truth.run(400, Seconds(30)));
    unlike.push_back(alike.back());
    unlike.back().busy *= i % 2 == 0 ? 0.8 : 1.2;
  }
  const WindowWork next = truth.run(400, Seconds(30));
  EXPECT_LT(WindowCost(alike).error(next), 0.05);
  EXPECT_GT(WindowCost(unlike).error(next), 0.15);
}

}  // namespace
}  // namespace tutti
