#include "transcribe/pool/restart_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::HasSubstr;

namespace {

const Error kDied{Fault::device, "worker cpu: the worker closed its connection"};
const WorkerRun kFailedStart{}, kIdle{.was_ready = true}, kUseful{.was_ready = true, .has_finished_work = true};

RestartPolicy policy(RestartLimits limits = {.failed_starts = 3, .restarts_without_work = 8}) {
  return {limits, "worker cpu"};
}

}  // namespace

TEST(RestartPolicy, FirstRestartIsImmediateThenWaitsDoubleUpToTheLimit) {
  auto restarts = policy({.first_wait = Seconds(1), .longest_wait = Seconds(5)});
  std::vector<double> waits;
  for (int process = 0; process < 6; ++process) waits.push_back(restarts.ended(kDied, kUseful).wait.count());
  EXPECT_THAT(waits, testing::ElementsAre(0, 2, 4, 5, 5, 5));
}

TEST(RestartPolicy, AWorkerThatLastedMakesTheNextRestartImmediateAgain) {
  auto restarts = policy();
  restarts.ended(kDied, kUseful);
  EXPECT_GT(restarts.ended(kDied, kUseful).wait.count(), 0);
  EXPECT_EQ(restarts.ended(kDied, {.was_ready = true, .lasted = Seconds(11)}).wait.count(), 0);
  EXPECT_EQ(restarts.ended(kDied, kUseful).wait.count(), 0);
}

TEST(RestartPolicy, FirstStartsAreLimitedUntilOneGotReady) {
  auto restarts = policy({.first_starts = 2});
  EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
  EXPECT_TRUE(restarts.ended(kDied, kFailedStart).give_up);
  auto lucky = policy({.first_starts = 2});
  lucky.ended(kDied, kUseful);
  for (int start = 0; start < 10; ++start) EXPECT_FALSE(lucky.ended(kDied, kFailedStart).give_up);
}

TEST(RestartPolicy, AFailedStartIsWaitedForAtOnce) {
  auto restarts = policy({.first_wait = Seconds(1)});
  EXPECT_EQ(restarts.ended(kDied, kFailedStart).wait, Seconds(1));
  EXPECT_EQ(restarts.ended(kDied, kFailedStart).wait, Seconds(2));
}

TEST(RestartPolicy, ThreeStartsInARowWithoutReadyAreEnough) {
  auto restarts = policy();
  EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
  EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
  const auto decision = restarts.ended(kDied, kFailedStart);
  ASSERT_TRUE(decision.give_up);
  EXPECT_EQ(decision.give_up->fault, Fault::device);
  EXPECT_EQ(decision.give_up->what,
            "worker cpu: could not be made ready in 3 starts in a row; the last time the worker closed its connection");
}

TEST(RestartPolicy, AWorkerThatBecameReadyInBetweenStartsTheCountAgain) {
  auto restarts = policy();
  restarts.ended(kDied, kFailedStart);
  restarts.ended(kDied, kFailedStart);
  restarts.ended(kDied, kIdle);
  EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
  EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
  EXPECT_TRUE(restarts.ended(kDied, kFailedStart).give_up);
}

TEST(RestartPolicy, WorkersThatNeverFinishAnythingAreGivenUp) {
  auto restarts = policy({.restarts_without_work = 4});
  for (int process = 0; process < 3; ++process) EXPECT_FALSE(restarts.ended(kDied, kIdle).give_up);
  const auto decision = restarts.ended(kDied, kIdle);
  ASSERT_TRUE(decision.give_up);
  EXPECT_THAT(decision.give_up->what, HasSubstr("finished nothing in 4 starts in a row"));
}

TEST(RestartPolicy, WithoutLimitsAWorkerIsAlwaysStartedAgain) {
  auto restarts = policy({});
  for (int process = 0; process < 100; ++process) EXPECT_FALSE(restarts.ended(kDied, kFailedStart).give_up);
}

TEST(RestartPolicy, PermanentErrorOfAStartIsPassedOnUnchanged) {
  const auto decision = policy().ended({Fault::missing, "/m: no such model"}, kFailedStart);
  ASSERT_TRUE(decision.give_up);
  EXPECT_EQ(decision.give_up->fault, Fault::missing);
  EXPECT_EQ(decision.give_up->what, "/m: no such model");
}
