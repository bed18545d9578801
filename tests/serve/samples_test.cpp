#include "serve/dashboard/samples.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

constexpr double kStart = 1'000'000;

/// A device that does ten seconds of audio a second, seen every second.
void run_for(FleetSamples& samples, double from, int seconds, double before = 0) {
  for (int i = 0; i <= seconds; ++i) samples.add(from + i, Seconds(before + 10.0 * i), 1.0);
}

}  // namespace

TEST(FleetSamples, SpeedIsAudioOverTimeInStepsOfFiveSeconds) {
  FleetSamples samples;
  run_for(samples, kStart, 60);
  const auto last_minutes = samples.since(kStart + 60, 300);
  ASSERT_EQ(last_minutes.size(), 12U);
  for (const auto& sample : last_minutes) {
    EXPECT_DOUBLE_EQ(sample.speed, 10);
    EXPECT_DOUBLE_EQ(sample.busy.value(), 1);
  }
  EXPECT_EQ(samples.since(kStart + 60, 20).size(), 5U);
}

TEST(FleetSamples, LongSpansComeInCoarserSteps) {
  FleetSamples samples;
  run_for(samples, kStart, 7200);
  EXPECT_EQ(samples.since(kStart + 7200, 3600).size(), 720U);
  EXPECT_EQ(samples.since(kStart + 7200, 86400).size(), 120U);
  EXPECT_EQ(samples.since(kStart + 7200, 30 * 86400).size(), 4U);
}

TEST(FleetSamples, TimeWithoutARunIsAGapAndNoSpeed) {
  FleetSamples samples;
  run_for(samples, kStart, 10);
  samples.add_gap();
  run_for(samples, kStart + 100, 10);  // another run: its audio begins at nothing
  const auto all = samples.since(kStart + 110, 300);
  ASSERT_EQ(all.size(), 4U);
  for (const auto& sample : all) EXPECT_DOUBLE_EQ(sample.speed, 10);
  EXPECT_GT(all[2].at - all[1].at, 50);
}

TEST(FleetSamples, CountThatFallsIsANewStart) {
  FleetSamples samples;
  run_for(samples, kStart, 10, 5000);
  run_for(samples, kStart + 11, 10);
  for (const auto& sample : samples.since(kStart + 21, 300)) EXPECT_LE(sample.speed, 10.0001);
}
