#include <gtest/gtest.h>

#include "advise/training_phases.h"

namespace tutti {
namespace {

TEST(TrainingUse, StepBoundByTheProcessorDoesNotBlameTheFeed) {
  EXPECT_EQ(cause_of({.busy = 0.11, .waiting = 0.02, .host = 0.95}), LowUse::launch);
  EXPECT_EQ(cause_of({.busy = 0.11, .waiting = 0.4, .host = 0.95}), LowUse::launch);
}

TEST(TrainingUse, WaitsThatAreMostOfTheIdleTimeAreTheFeeds) {
  EXPECT_EQ(cause_of({.busy = 0.11, .waiting = 0.8, .host = 0.95}), LowUse::feed);
}

TEST(TrainingUse, IdleStepsOfAnIdleHostAreSmallBatches) {
  EXPECT_EQ(cause_of({.busy = 0.2, .waiting = 0.05, .host = 0.3}), LowUse::batch);
}

TEST(TrainingUse, DoubleBatchSharesWhatAStepCostsBesideItsWork) {
  EXPECT_NEAR(gain_of_double_batch({.busy = 0.11}), 0.80, 0.005) << "1 / (0.11 + 0.89 / 2)";
  EXPECT_NEAR(gain_of_double_batch({.busy = 1}), 0, 1e-9);
  EXPECT_NEAR(gain_of_double_batch({.busy = 0.1, .waiting = 0.9}), 0, 1e-9) << "the feed would be as slow";
}

TEST(TrainingUse, WithoutWaitsTheStepsAloneRemain) {
  EXPECT_NEAR(gain_without_waits({.busy = 0.2, .waiting = 0.8}), 4, 1e-9);
}

}  // namespace
}  // namespace tutti
