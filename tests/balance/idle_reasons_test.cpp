// The reasons for a device's idle time, as reports show them.

#include <gtest/gtest.h>

#include "balance/dispatcher.h"
#include "driving.h"

namespace tutti {
namespace {

/// Of the only device.
double spent(Dispatcher& dispatcher, Idle why, Seconds now) {
  return dispatcher.devices(now)[0].idle[why].count();
}

/// The only device's worker is lost with that piece.
void lose(Dispatcher& dispatcher, const Grant& grant, Seconds last_answer, Seconds now) {
  dispatcher.nothing_came_since(0, last_answer, now);
  dispatcher.failed(grant.id, Blame::unclear, "no window has come back", now);
  dispatcher.device_event(0, HealthEvent::restarting, "no window has come back", now);
  EXPECT_FALSE(dispatcher.next(now));
}

TEST(IdleReasons, AStartAfterALossIsAFaultAndTheFirstOneIsNot) {
  Dispatcher dispatcher;
  DeviceFacts facts = device("a", 30, 1);
  facts.starting = true;
  dispatcher.add_device(facts, {});
  add_file(dispatcher, 1, Seconds(300));
  dispatcher.device_event(0, HealthEvent::drain, "asked for", Seconds(2));
  EXPECT_FALSE(dispatcher.next(Seconds(2)));
  dispatcher.device_event(0, HealthEvent::resume, "asked for", Seconds(3));
  EXPECT_FALSE(dispatcher.next(Seconds(3)));
  dispatcher.device_event(0, HealthEvent::ready, "", Seconds(5));
  const auto grant = dispatcher.next(Seconds(5));
  ASSERT_TRUE(grant);
  EXPECT_EQ(spent(dispatcher, Idle::starting, Seconds(5)), 4);
  EXPECT_EQ(spent(dispatcher, Idle::fault, Seconds(5)), 0);
  lose(dispatcher, *grant, Seconds(7), Seconds(7));
  EXPECT_EQ(spent(dispatcher, Idle::starting, Seconds(20)), 4);
  EXPECT_EQ(spent(dispatcher, Idle::fault, Seconds(20)), 13);
  dispatcher.device_event(0, HealthEvent::ready, "", Seconds(20));
  EXPECT_TRUE(dispatcher.next(Seconds(20)));
}

TEST(IdleReasons, TimeFromWhichALostWorkerHasNothingToShowIsAFaultAndNoWork) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  add_file(dispatcher, 1, Seconds(300));
  const auto first = dispatcher.next({});
  ASSERT_TRUE(first);
  lose(dispatcher, *first, Seconds(4), Seconds(10));
  EXPECT_EQ(dispatcher.devices(Seconds(15))[0].busy, Seconds(4));
  EXPECT_EQ(spent(dispatcher, Idle::fault, Seconds(15)), 6 + 5);
  dispatcher.nothing_came_since(0, Seconds(4), Seconds(15));  // it has nothing in flight: nothing is counted twice
  dispatcher.device_event(0, HealthEvent::ready, "", Seconds(15));
  const auto second = dispatcher.next(Seconds(15));
  ASSERT_TRUE(second);
  lose(dispatcher, *second, Seconds(4), Seconds(17));
  EXPECT_EQ(dispatcher.devices(Seconds(17))[0].busy, Seconds(4));
  EXPECT_EQ(spent(dispatcher, Idle::fault, Seconds(17)), 6 + 5 + 2) << "and not from before it had anything to do";
  EXPECT_EQ(dispatcher.devices(Seconds(17))[0].in_service, Seconds(17));
}

TEST(IdleReasons, DeviceWithoutJobsDuringStallWaitedForStalledDevice) {
  Dispatcher dispatcher;
  for (const char* id : {"well", "stalls"}) dispatcher.add_device(device(id, 10, 1), {});
  for (JobKey id = 1; id <= 2; ++id) add_file(dispatcher, id, Seconds(100));
  const auto grants = take_all(dispatcher, {});
  ASSERT_EQ(grants.size(), 2u);
  const auto on = [&](DeviceIndex device) { return grants[grants[0].device == device ? 0U : 1U]; };
  dispatcher.finished(on(0).id, Seconds(10));
  dispatcher.end_job(on(0).job, Seconds(10));
  EXPECT_FALSE(dispatcher.next(Seconds(10)));
  dispatcher.nothing_came_since(1, Seconds(20), Seconds(60));
  dispatcher.failed(on(1).id, Blame::unclear, "no window has come back", Seconds(60));
  dispatcher.device_event(1, HealthEvent::restarting, "no window has come back", Seconds(60));
  const auto again = dispatcher.next(Seconds(60));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->device, 0u);
  EXPECT_FALSE(dispatcher.next(Seconds(60)));
  const auto views = dispatcher.devices(Seconds(65));
  const auto idle = [&](DeviceIndex device, Idle why) { return views[device].idle[why]; };
  EXPECT_EQ(idle(0, Idle::no_job), Seconds(10)) << "until then the other was at work on it";
  EXPECT_EQ(idle(0, Idle::stalled), Seconds(40));
  EXPECT_EQ(views[0].busy, Seconds(10 + 5));
  EXPECT_EQ(idle(1, Idle::fault), Seconds(40 + 5));
  EXPECT_EQ(idle(1, Idle::stalled), Seconds(0));
}

TEST(IdleReasons, DeviceWithOtherIdleReasonKeepsItDuringStall) {
  Dispatcher dispatcher;
  for (const char* id : {"waits", "stalls"}) dispatcher.add_device(device(id, 10, 1), {});
  add_file(dispatcher, 1, Seconds(100));
  const auto grant = dispatcher.next({});
  ASSERT_TRUE(grant);
  const DeviceIndex other = 1 - grant->device;
  dispatcher.add_job(2, whole_file(Seconds(100)), {});
  EXPECT_FALSE(dispatcher.next({}));
  dispatcher.nothing_came_since(grant->device, Seconds(5), Seconds(30));
  const auto view = dispatcher.devices(Seconds(30))[other];
  EXPECT_EQ(view.idle[Idle::input], Seconds(30));
  EXPECT_EQ(view.idle[Idle::stalled], Seconds(0));
}

TEST(IdleReasons, WhileJobsAreStillBeingListedTheirInputIsMissingAndNotTheJobs) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.held_back(Idle::input, {});
  EXPECT_FALSE(dispatcher.next({}));
  EXPECT_EQ(dispatcher.devices({})[0].refusal, "what there is to do is still being listed");
  dispatcher.held_back({}, Seconds(3));
  EXPECT_FALSE(dispatcher.next(Seconds(3)));
  EXPECT_EQ(spent(dispatcher, Idle::input, Seconds(8)), 3);
  EXPECT_EQ(spent(dispatcher, Idle::no_job, Seconds(8)), 5);
}

TEST(IdleReasons, JobsThatAreHeldBackAreNoWantOfInput) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_job(1, whole_file(Seconds(300)), {});
  EXPECT_FALSE(dispatcher.next({}));
  dispatcher.held_back(Idle::cap, Seconds(2));
  EXPECT_FALSE(dispatcher.next(Seconds(2)));
  EXPECT_EQ(dispatcher.devices(Seconds(2))[0].refusal, "as many jobs are in work as may be");
  dispatcher.held_back(Idle::drained, Seconds(5));
  EXPECT_FALSE(dispatcher.next(Seconds(5)));
  dispatcher.held_back({}, Seconds(6));
  EXPECT_FALSE(dispatcher.next(Seconds(6)));
  EXPECT_EQ(spent(dispatcher, Idle::input, Seconds(8)), 2 + 2);
  EXPECT_EQ(spent(dispatcher, Idle::cap, Seconds(8)), 3);
  EXPECT_EQ(spent(dispatcher, Idle::drained, Seconds(8)), 1);
  dispatcher.held_back(Idle::cap, Seconds(8));
  dispatcher.offer(1, Seconds(300), 1, Seconds(8));
  EXPECT_TRUE(dispatcher.next(Seconds(8))) << "it is no limit, only the owner's report on its own jobs";
}

}  // namespace
}  // namespace tutti
