#include "balance/device_health.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// Fails until the breaker is open.
void break_it(DeviceHealth& health, Seconds now) {
  for (int i = 0; i < 3; ++i) health.failed("worker died", false, false, now);
}

TEST(DeviceHealth, OpensAfterThreeFailuresInARow) {
  DeviceHealth health;
  health.failed("worker died", false, false, Seconds(1));
  EXPECT_EQ(health.state(), DeviceState::suspect);
  EXPECT_TRUE(health.in_service());
  health.failed("worker died", false, false, Seconds(2));
  health.failed("worker died", false, false, Seconds(3));
  EXPECT_EQ(health.state(), DeviceState::open);
  EXPECT_FALSE(health.in_service());
  EXPECT_EQ(health.wake_at(), Seconds(33));
}

TEST(DeviceHealth, OpensWhenMoreThanHalfOfTheLastTenFailed) {
  DeviceHealth health;
  for (int i = 0; i < 3; ++i) health.succeeded(false, Seconds(i));
  for (int i = 0; health.in_service() && i < 4; ++i) {
    health.failed("nonsense", false, false, Seconds(10 + i));
    health.failed("nonsense", false, false, Seconds(10 + i));
    if (health.in_service()) health.succeeded(false, Seconds(10 + i));
  }
  EXPECT_EQ(health.state(), DeviceState::open);
}

TEST(DeviceHealth, OneSuccessClearsASuspicion) {
  DeviceHealth health;
  health.failed("worker died", false, false, Seconds(1));
  health.succeeded(false, Seconds(2));
  EXPECT_EQ(health.state(), DeviceState::healthy);
}

TEST(DeviceHealth, ComesBackByCanariesThenWithAQuarterAndHalfOfItsSlots) {
  DeviceHealth health;
  break_it(health, Seconds(0));
  health.advance(Seconds(29));
  EXPECT_EQ(health.state(), DeviceState::open);
  health.advance(Seconds(30));
  EXPECT_TRUE(health.wants_canary());
  health.succeeded(true, Seconds(31));
  EXPECT_TRUE(health.wants_canary()) << "two successes close it";
  health.succeeded(true, Seconds(32));
  EXPECT_EQ(health.state(), DeviceState::warming);
  EXPECT_EQ(health.allowed(8), 2);
  EXPECT_EQ(health.allowed(1), 1);
  for (int i = 0; i < 4; ++i) health.succeeded(false, Seconds(33));
  EXPECT_EQ(health.allowed(8), 4);
  for (int i = 0; i < 4; ++i) health.succeeded(false, Seconds(34));
  EXPECT_EQ(health.state(), DeviceState::healthy);
  EXPECT_EQ(health.allowed(8), 8);
}

TEST(DeviceHealth, BacksOffLongerEveryTimeAndThenIsQuarantined) {
  DeviceHealth health;
  break_it(health, Seconds(0));
  double now = 30;
  for (int opening = 2; opening < 6; ++opening) {
    health.advance(Seconds(now));
    ASSERT_TRUE(health.wants_canary());
    health.failed("still dead", true, false, Seconds(now));
    ASSERT_EQ(health.state(), DeviceState::open);
    EXPECT_DOUBLE_EQ(health.wake_at()->count() - now, 30 * opening);
    now = health.wake_at()->count();
  }
  health.advance(Seconds(now));
  health.failed("still dead", true, false, Seconds(now));
  EXPECT_EQ(health.state(), DeviceState::quarantined);
  EXPECT_FALSE(health.wake_at()) << "no timer alone brings it back";
  health.on_event(HealthEvent::returned, "was reset", Seconds(now));
  EXPECT_TRUE(health.wants_canary());
}

TEST(DeviceHealth, TheLastDeviceIsProbedAtOnceInsteadOfLeftAlone) {
  DeviceHealth health;
  for (int i = 0; i < 3; ++i) health.failed("worker died", false, true, Seconds(i));
  EXPECT_TRUE(health.wants_canary());
  health.failed("still dead", true, true, Seconds(5));
  EXPECT_EQ(health.state(), DeviceState::open) << "but not in a tight circle";
  for (double now = 5; health.state() == DeviceState::open && now < 1e6;) {
    now = health.wake_at()->count();
    health.advance(Seconds(now));
    health.failed("still dead", true, true, Seconds(now));
    EXPECT_NE(health.state(), DeviceState::quarantined) << "and never for good";
    if (now > 20000) break;
  }
}

TEST(DeviceHealth, ALostCardReturnsOnlyWhenItIsSeenAgainAndPassesItsCanaries) {
  DeviceHealth health;
  health.on_event(HealthEvent::lost, "Xid 79", Seconds(1));
  health.advance(Seconds(1e6));
  EXPECT_EQ(health.state(), DeviceState::lost);
  health.on_event(HealthEvent::ready, "", Seconds(1e6));
  health.on_event(HealthEvent::resume, "", Seconds(1e6));
  EXPECT_EQ(health.state(), DeviceState::lost);
  health.on_event(HealthEvent::returned, "enumerates again", Seconds(1e6));
  EXPECT_TRUE(health.wants_canary());
}

TEST(DeviceHealth, DrainingEndsWhereItBegan) {
  DeviceHealth health;
  health.on_event(HealthEvent::drain, "asked for", Seconds(1));
  EXPECT_FALSE(health.in_service());
  EXPECT_EQ(health.reason(), "asked for");
  health.on_event(HealthEvent::resume, "asked for", Seconds(2));
  EXPECT_EQ(health.state(), DeviceState::healthy);
  EXPECT_EQ(health.reason(), "") << "the request is over";
  break_it(health, Seconds(3));
  health.on_event(HealthEvent::drain, "asked for", Seconds(4));
  health.on_event(HealthEvent::resume, "asked for", Seconds(5));
  EXPECT_TRUE(health.wants_canary()) << "resuming does not make it well";
}

TEST(DeviceHealth, AWorkerThatGoesWhileDrainedIsWaitedForAfterResume) {
  DeviceHealth health;
  health.on_event(HealthEvent::drain, "", Seconds(1));
  health.on_event(HealthEvent::restarting, "it died", Seconds(2));
  health.on_event(HealthEvent::resume, "", Seconds(3));
  EXPECT_EQ(health.state(), DeviceState::starting);
  health.on_event(HealthEvent::ready, "", Seconds(4));
  EXPECT_TRUE(health.in_service());
}

TEST(DeviceHealth, DrainRequestSurvivesDeviceLoss) {
  for (const bool while_gone : {true, false}) {
    DeviceHealth health;
    if (!while_gone) health.on_event(HealthEvent::drain, "", Seconds(1));
    health.on_event(HealthEvent::lost, "off the bus", Seconds(2));
    if (while_gone) health.on_event(HealthEvent::drain, "", Seconds(3));
    EXPECT_EQ(health.state(), DeviceState::lost);
    health.on_event(HealthEvent::returned, "", Seconds(4));
    EXPECT_EQ(health.state(), DeviceState::draining);
    EXPECT_FALSE(health.wants_canary());
    health.on_event(HealthEvent::resume, "", Seconds(5));
    EXPECT_EQ(health.state(), DeviceState::probing) << "it has been away: a canary decides";
  }
}

TEST(DeviceHealth, OperatorMayResumeAQuarantinedDevice) {
  DeviceHealth health;
  health.on_event(HealthEvent::quarantine, "Xid 79", Seconds(1));
  health.on_event(HealthEvent::resume, "", Seconds(2));
  EXPECT_TRUE(health.wants_canary());
}

TEST(DeviceHealth, BlameIsRevokedWhenTheJobWasAtFault) {
  DeviceHealth health;
  break_it(health, Seconds(0));
  health.forgive(1, Seconds(1));
  EXPECT_TRUE(health.wants_canary());
  DeviceHealth other;
  other.failed("worker died", false, false, Seconds(0));
  other.forgive(1, Seconds(1));
  EXPECT_EQ(other.state(), DeviceState::healthy);
}

TEST(DeviceHealth, EveryChangeIsARowWithItsReason) {
  DeviceHealth health({}, true);
  health.on_event(HealthEvent::ready, "has the model", Seconds(2));
  health.on_event(HealthEvent::quarantine, "Xid 48", Seconds(5));
  ASSERT_EQ(health.changes().size(), 2u);
  EXPECT_EQ(health.changes()[0].from, DeviceState::starting);
  EXPECT_EQ(health.changes()[1].to, DeviceState::quarantined);
  EXPECT_EQ(health.changes()[1].reason, "Xid 48");
  EXPECT_EQ(health.changes()[1].at, Seconds(5));
}

}  // namespace
}  // namespace tutti
