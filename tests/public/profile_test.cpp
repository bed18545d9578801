#include "public/tutti/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// A loop that draws for 3 ms and steps for 1 ms.
Result<RunProfile> slow_draws() {
  LoopProfile loop("turns");
  for (int i = 0; i < 60; ++i) {
    loop.measure("draw", [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); });
    loop.measure("step", [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  }
  return loop.profile();
}

TEST(LoopProfileTimed, PhaseThatTakesLongestLimitsAndItsGainIsPredicted) {
  const auto profile = slow_draws();
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->unit(), "turns");
  EXPECT_EQ(profile->limit(), "draw");
  EXPECT_GT(profile->items_per_s(), 100);
  const auto faster = profile->predict("draw.speed=2");
  ASSERT_TRUE(faster) << faster.error().text();
  EXPECT_NEAR(faster->items_per_s / profile->items_per_s(), 4 / 2.5, 0.15);
  ASSERT_FALSE(profile->gains().empty());
  EXPECT_THAT(profile->gains().front().change, HasSubstr("draw."));
  EXPECT_THAT(profile->text(), HasSubstr("draw"));
  EXPECT_THAT(profile->json(), HasSubstr("\"unit\":\"turns\""));
}

TEST(LoopProfile, UnknownStageOfAChangeIsNamed) {
  const auto profile = slow_draws();
  ASSERT_TRUE(profile);
  const auto refused = profile->predict("drwa.speed=2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::usage);
  EXPECT_THAT(refused.error().text(), HasSubstr("draw"));
}

TEST(LoopProfile, PhasesThatWereTimedElsewhereCountAsMeasured) {
  LoopProfile loop;
  auto now = Clock::real().now();
  for (int i = 0; i < 40; ++i)
    for (const auto& [phase, took] : {std::pair("loader", 300), std::pair("step", 100)}) {
      loop.note(phase, now, now + std::chrono::milliseconds(took));
      now += std::chrono::milliseconds(took);
    }
  const auto profile = loop.profile();
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->limit(), "loader");
  EXPECT_NEAR(profile->items_per_s(), 2.5, 0.01);
  EXPECT_THAT(profile->finding(), HasSubstr("loader"));
}

TEST(LoopProfile, NothingMeasuredIsAnErrorAndNoEmptyProfile) {
  EXPECT_EQ(LoopProfile().profile().error().fault, Fault::missing);
  const TempFolder folder;
  EXPECT_EQ(RunProfile::read(folder / "none.json").error().fault, Fault::missing);
}

}  // namespace
}  // namespace tutti
