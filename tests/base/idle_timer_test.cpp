#include "base/idle_timer.h"

#include <gtest/gtest.h>

using namespace tutti;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const Clock::Instant kStart{};

}  // namespace

TEST(IdleTimer, EmptyLookAfterLongJobIsNoEnd) {
  IdleTimer timer(minutes(5));
  EXPECT_FALSE(timer.found_empty(kStart + seconds(1), kStart));
  timer.busy();  // a job comes, and takes an hour
  const auto ended = kStart + minutes(60);
  EXPECT_FALSE(timer.found_empty(ended + seconds(1), ended));
  EXPECT_FALSE(timer.found_empty(ended + minutes(4), ended));
}

TEST(IdleTimer, SecondEmptyLookAfterTheTimeEnds) {
  IdleTimer timer(minutes(5));
  EXPECT_FALSE(timer.found_empty(kStart + minutes(5), kStart));
  EXPECT_TRUE(timer.found_empty(kStart + minutes(6), kStart));
}

TEST(IdleTimer, JobBetweenTwoEmptyLooksStartsAgain) {
  IdleTimer timer(minutes(5));
  EXPECT_FALSE(timer.found_empty(kStart + minutes(6), kStart));
  timer.busy();
  const auto ended = kStart + minutes(7);
  EXPECT_FALSE(timer.found_empty(ended + minutes(1), ended));
  EXPECT_FALSE(timer.found_empty(ended + minutes(5), ended));
  EXPECT_TRUE(timer.found_empty(ended + minutes(5), ended));
}

TEST(IdleTimer, LeftCountsDownFromTheLatestEnd) {
  const IdleTimer timer(minutes(5));
  EXPECT_EQ(timer.left(kStart + minutes(2), kStart), minutes(3));
  EXPECT_EQ(timer.left(kStart + minutes(9), kStart), seconds(0));
  EXPECT_EQ(timer.left(kStart + minutes(9), kStart + minutes(8)), minutes(4));
}
