#include "link/heartbeat.h"

#include <gtest/gtest.h>

using namespace tutti;
using namespace std::chrono_literals;

namespace {

const Clock::Instant kStart = Clock::Instant{} + 1h;

}  // namespace

TEST(Heartbeat, APingIsDueAnIntervalAfterTheStartAndOneIsOutAtATime) {
  Heartbeat heart({}, kStart);
  EXPECT_EQ(heart.wake_at(), kStart + 250ms);
  EXPECT_FALSE(heart.due(kStart + 249ms));
  const auto ping = heart.due(kStart + 250ms);
  ASSERT_TRUE(ping);
  EXPECT_FALSE(heart.due(kStart + 600ms));
  EXPECT_TRUE(heart.pong({ping->sequence}, kStart + 260ms));
  const auto next = heart.due(kStart + 500ms);
  ASSERT_TRUE(next);
  EXPECT_NE(next->sequence, ping->sequence);
}

TEST(Heartbeat, APeerThatStopsRightAfterAPongIsSilentWithinASecondOfIt) {
  Heartbeat heart({}, kStart);
  ASSERT_TRUE(heart.pong({heart.due(kStart + 250ms)->sequence}, kStart + 251ms));
  ASSERT_TRUE(heart.due(kStart + 500ms));
  EXPECT_EQ(heart.wake_at(), kStart + 1251ms);
  EXPECT_FALSE(heart.silent(kStart + 1250ms));
  EXPECT_TRUE(heart.silent(kStart + 1251ms));
}

TEST(Heartbeat, PeerIsNotSilentUntilHalfTheLimitAfterAPing) {
  Heartbeat heart({}, kStart);
  // We were stopped for ten seconds: that is not the peer's silence.
  EXPECT_FALSE(heart.silent(kStart + 10s));
  ASSERT_TRUE(heart.due(kStart + 10s));
  EXPECT_FALSE(heart.silent(kStart + 10s + 499ms));
  EXPECT_TRUE(heart.silent(kStart + 10s + 500ms));
}

TEST(Heartbeat, UnsolicitedPongIsIgnored) {
  Heartbeat heart({}, kStart);
  EXPECT_FALSE(heart.pong({1}, kStart));
  const auto ping = heart.due(kStart + 1s);
  EXPECT_FALSE(heart.pong({ping->sequence + 1}, kStart + 1s));
  EXPECT_TRUE(heart.pong({ping->sequence}, kStart + 1s));
  EXPECT_FALSE(heart.pong({ping->sequence}, kStart + 1s)) << "the same pong twice";
}
