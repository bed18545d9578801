#include "balance/speed_model.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(SpeedModel, UsesThePriorUntilSomethingIsMeasured) {
  const SpeedModel model(30, 4);
  EXPECT_DOUBLE_EQ(model.speed(4), 30);
  EXPECT_DOUBLE_EQ(model.speed(9), 30);
  EXPECT_DOUBLE_EQ(model.speed(1), 7.5);
  EXPECT_DOUBLE_EQ(model.cost(Seconds(60), 4).count(), 2);
  EXPECT_FALSE(model.error());
}

TEST(SpeedModel, NewPriorHoldsUntilSomethingIsMeasured) {
  SpeedModel model(30, 2);
  model.believe(10);
  EXPECT_DOUBLE_EQ(model.speed(2), 10);
  EXPECT_DOUBLE_EQ(model.speed(1), 5);
  for (int i = 0; i < 20; ++i) model.measured(Seconds(30), Seconds(1), 2);
  model.believe(100);
  EXPECT_NEAR(model.speed(2), 30, 0.01);
}

TEST(SpeedModel, FollowsADeviceThatBecomesSlower) {
  SpeedModel model(30, 1);
  for (int i = 0; i < 20; ++i) model.measured(Seconds(30), Seconds(1), 1);
  EXPECT_NEAR(model.speed(1), 30, 0.01);
  for (int i = 0; i < 20; ++i) model.measured(Seconds(30), Seconds(2), 1);
  EXPECT_NEAR(model.speed(1), 15, 0.3);
}

TEST(SpeedModel, SeparatesFixedCostFromSpeedWhenLengthsDiffer) {
  SpeedModel model(10, 1);
  for (int i = 0; i < 40; ++i) {
    const double audio = 10 + 7 * (i % 5);
    model.measured(Seconds(audio), Seconds(0.5 + audio / 40), 1);
  }
  EXPECT_NEAR(model.fixed().count(), 0.5, 0.01);
  EXPECT_NEAR(model.speed(1), 40, 0.5);
  EXPECT_NEAR(model.cost(Seconds(100), 1).count(), 3, 0.03);
}

TEST(SpeedModel, ThroughShortPiecesLessAudioGoesThanThroughLongOnes) {
  SpeedModel model(10, 1);
  for (int i = 0; i < 40; ++i) {
    const double audio = 10 + 7 * (i % 5);
    model.measured(Seconds(audio), Seconds(0.5 + audio / 40), 1);
  }
  EXPECT_NEAR(model.through(Seconds(20), 1), 20, 0.3);
  EXPECT_NEAR(model.through(Seconds(5), 1), 8, 0.2);
  EXPECT_NEAR(model.usual_piece().count(), 27, 1) << "the last of them count most";
  EXPECT_EQ(model.doubt(Seconds(5)), 0) << "the fixed cost was separated";
}

TEST(SpeedModel, CostOfUnmeasuredLengthsIsUncertain) {
  SpeedModel model(10, 1);
  EXPECT_EQ(model.doubt(Seconds(15)), 0) << "all of it is only believed";
  for (int i = 0; i < 20; ++i) model.measured(Seconds(30), Seconds(1), 1);
  EXPECT_NEAR(model.doubt(Seconds(30)), 0, 1e-9);
  EXPECT_GT(model.doubt(Seconds(15)), 0.3);
  EXPECT_DOUBLE_EQ(model.through(Seconds(15), 1), model.speed(1));
}

TEST(SpeedModel, LearnsEveryNumberOfPiecesInFlightApart) {
  SpeedModel model(30, 8);
  model.measured(Seconds(30), Seconds(3), 1);
  model.measured(Seconds(30), Seconds(0.5), 8);
  EXPECT_NEAR(model.speed(1), 10, 1e-6);
  EXPECT_NEAR(model.speed(8), 60, 1e-6);
  EXPECT_NEAR(model.speed(16), 60, 1e-6) << "nothing is known of 16: no more than with 8";
}

TEST(SpeedModel, KeepsTheMedianErrorOfItsOwnPredictions) {
  SpeedModel model(30, 1);
  model.measured(Seconds(30), Seconds(2), 1);  // believed 1: off by half
  EXPECT_NEAR(*model.error(), 0.5, 1e-9);
  for (int i = 0; i < 9; ++i) model.measured(Seconds(30), Seconds(2), 1);
  EXPECT_LT(*model.error(), 0.01);
}

}  // namespace
}  // namespace tutti
