#include <gtest/gtest.h>

#include "train/optimiser.h"

namespace tutti {
namespace {

constexpr auto kLinear = RateSchedule::Shape::linear;
constexpr auto kCosine = RateSchedule::Shape::cosine;

TEST(RateSchedule, RisesInTheWarmupAndReachesItsPeakAtTheEndOfIt) {
  const RateSchedule rates{.peak = 1, .warmup = 4, .steps = 10};
  EXPECT_DOUBLE_EQ(rates.at(1), 0.25);
  EXPECT_DOUBLE_EQ(rates.at(4), 1);
  EXPECT_DOUBLE_EQ(rates.at(5), 1);
}

TEST(RateSchedule, LinearDecaysEvenlyToTheFinalShare) {
  const RateSchedule rates{.shape = kLinear, .peak = 2, .steps = 4, .final_share = 0.5};
  EXPECT_DOUBLE_EQ(rates.at(1), 2);
  EXPECT_DOUBLE_EQ(rates.at(3), 1.5);
  EXPECT_DOUBLE_EQ(rates.at(99), 1);
}

TEST(RateSchedule, CosineIsHalfwayInTheMiddle) {
  const RateSchedule rates{.shape = kCosine, .peak = 1, .steps = 10};
  EXPECT_DOUBLE_EQ(rates.at(1), 1);
  EXPECT_NEAR(rates.at(6), 0.5, 1e-12);
  EXPECT_NEAR(rates.at(11), 0, 1e-12);
}

TEST(RateSchedule, CosineWithRestartsBeginsEveryCycleAtThePeak) {
  const RateSchedule rates{.shape = kCosine, .peak = 1, .steps = 10, .cycles = 2};
  EXPECT_NEAR(rates.at(6), 1, 1e-12);
  EXPECT_LT(rates.at(5), 0.2);
}

TEST(RateSchedule, ConstantAndUnknownLengthsStayAtThePeak) {
  EXPECT_DOUBLE_EQ((RateSchedule{.shape = RateSchedule::Shape::constant, .peak = 3, .steps = 10}.at(10)), 3);
  EXPECT_DOUBLE_EQ((RateSchedule{.shape = kLinear, .peak = 3}.at(1000)), 3);
}

TEST(TrainingLength, IsThatOfFullBatchesWhereTheyAreFull) {
  const TrainingLength length{.least = 9, .recordings = 30};  // three epochs of 4, 4 and 2
  EXPECT_EQ(length.expected(0, 0), 9);
  EXPECT_EQ(length.expected(1, 4), 9);
  EXPECT_EQ(length.expected(3, 10), 9);
}

TEST(TrainingLength, GrowsWithStepsThatUseLessThanABatchAndEndsWithTheLastStep) {
  EXPECT_EQ((TrainingLength{.least = 9, .recordings = 30}.expected(2, 3)), 20);
  EXPECT_EQ((TrainingLength{.least = 9, .recordings = 30, .most = 12}.expected(2, 3)), 12);
  EXPECT_EQ((TrainingLength{.most = 12}.expected(2, 3)), 12);
  EXPECT_EQ((TrainingLength{}.expected(2, 3)), 0);
}

}  // namespace
}  // namespace tutti
