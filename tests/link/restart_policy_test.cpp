#include "link/restart_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::HasSubstr;

namespace {

const Ending kDied{.error = {Fault::device, "the worker closed its connection"}};

}  // namespace

TEST(RestartPolicy, FirstRestartIsImmediateThenWaitsDoubleUpToTheLimit) {
  RestartPolicy policy({.restarts_without_work = 100, .first_wait = Seconds(1), .longest_wait = Seconds(5)});
  std::vector<double> waits;
  for (int process = 0; process < 6; ++process) waits.push_back(policy.ended(kDied, true, false).wait.count());
  EXPECT_THAT(waits, testing::ElementsAre(0, 1, 2, 4, 5, 5));
}

TEST(RestartPolicy, AnAnswerInBetweenMakesTheNextRestartImmediateAgain) {
  RestartPolicy policy({});
  policy.ended(kDied, true, false);
  EXPECT_GT(policy.ended(kDied, true, false).wait.count(), 0);
  EXPECT_EQ(policy.ended(kDied, true, true).wait.count(), 0);
  EXPECT_EQ(policy.ended(kDied, true, false).wait.count(), 0);
}

TEST(RestartPolicy, ThreeStartsInARowWithoutReadyAreEnough) {
  RestartPolicy policy({});
  EXPECT_FALSE(policy.ended(kDied, false, false).give_up);
  EXPECT_FALSE(policy.ended(kDied, false, false).give_up);
  const auto decision = policy.ended(kDied, false, false);
  ASSERT_TRUE(decision.give_up);
  EXPECT_EQ(decision.give_up->fault, Fault::device);
  EXPECT_THAT(decision.give_up->what, HasSubstr("3 starts in a row; the last time the worker closed its connection"));
}

TEST(RestartPolicy, AWorkerThatBecameReadyInBetweenStartsTheCountAgain) {
  RestartPolicy policy({});
  policy.ended(kDied, false, false);
  policy.ended(kDied, false, false);
  policy.ended(kDied, true, false);
  EXPECT_FALSE(policy.ended(kDied, false, false).give_up);
  EXPECT_FALSE(policy.ended(kDied, false, false).give_up);
  EXPECT_TRUE(policy.ended(kDied, false, false).give_up);
}

TEST(RestartPolicy, WorkersThatNeverFinishAnythingAreGivenUp) {
  RestartPolicy policy({.restarts_without_work = 4});
  for (int process = 0; process < 3; ++process) EXPECT_FALSE(policy.ended(kDied, true, false).give_up);
  const auto decision = policy.ended(kDied, true, false);
  ASSERT_TRUE(decision.give_up);
  EXPECT_THAT(decision.give_up->what, HasSubstr("finished nothing in 4 starts in a row"));
}

TEST(RestartPolicy, FinalErrorIsPassedOnUnchanged) {
  RestartPolicy policy({});
  const Ending missing{.error = {Fault::missing, "/m: no such model"}, .final = true};
  const auto decision = policy.ended(missing, false, false);
  ASSERT_TRUE(decision.give_up);
  EXPECT_EQ(decision.give_up->fault, Fault::missing);
  EXPECT_EQ(decision.give_up->what, "/m: no such model");
}
