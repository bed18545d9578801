// What is expected of a device that still loads its model.

#include <gtest/gtest.h>

#include "balance/dispatcher.h"
#include "driving.h"

namespace tutti {
namespace {

/// A slow GPU, and a fast one whose worker loads its model.
Dispatcher while_the_fast_one_loads(Seconds load_time) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("slow", 10, 1), {});
  DeviceFacts fast = device("fast", 100, 1);
  fast.load_time = load_time;
  fast.starting = true;
  dispatcher.add_device(fast, {});
  return dispatcher;
}

TEST(Loading, PieceWaitsForLoadingDeviceIfTenPercentFaster) {
  for (const bool whole : {false, true}) {
    SCOPED_TRACE(whole);
    const auto placed = [&](Seconds load_time) {
      Dispatcher dispatcher = while_the_fast_one_loads(load_time);
      dispatcher.add_job(1, {.audio = Seconds(100), .whole = whole}, {});
      dispatcher.offer(1, Seconds(100), 1, {});
      return dispatcher.next({}).has_value();
    };
    EXPECT_FALSE(placed(Seconds(5))) << "10 s here; 5 s to load and 1 s there";
    EXPECT_TRUE(placed(Seconds(8.5))) << "9.5 s are not a tenth less than 10";
    EXPECT_TRUE(placed(Seconds(60)));
    EXPECT_TRUE(placed({})) << "the load time is unknown";
  }
}

TEST(Loading, ADeviceThatLoadsForLongerThanItDidIsNotCountedOn) {
  Dispatcher dispatcher = while_the_fast_one_loads(Seconds(5));
  dispatcher.add_job(1, {.audio = Seconds(100)}, {});
  dispatcher.offer(1, Seconds(100), 1, {});
  EXPECT_FALSE(dispatcher.next({}));
  EXPECT_EQ(dispatcher.devices({})[0].why_idle, Idle::left_to_faster);
  ASSERT_EQ(dispatcher.wake_at(), Seconds(5));
  const auto grant = dispatcher.next(Seconds(5));
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->device, 0u);
}

TEST(Loading, HowLongAWorkerTookToLoadIsExpectedOfTheNextOne) {
  Dispatcher dispatcher = while_the_fast_one_loads({});
  dispatcher.device_event(1, HealthEvent::ready, "", Seconds(4));
  dispatcher.device_event(1, HealthEvent::restarting, "it died", Seconds(50));
  dispatcher.add_job(1, {.audio = Seconds(100)}, Seconds(50));
  dispatcher.offer(1, Seconds(100), 1, Seconds(50));
  EXPECT_FALSE(dispatcher.next(Seconds(50)));
  EXPECT_EQ(dispatcher.wake_at(), Seconds(54));
  dispatcher.device_event(1, HealthEvent::ready, "", Seconds(53));
  const auto grant = dispatcher.next(Seconds(53));
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->device, 1u);
}

TEST(Loading, ADeviceThatWillBeReadyAfterEverythingTakesNoPartOfIt) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("fast", 60, 2), {});
  dispatcher.add_device(device("slow", 10, 2), {});
  DeviceFacts late = device("late", 1000, 2);
  late.load_time = Seconds(100);
  late.starting = true;
  dispatcher.add_device(late, {});
  dispatcher.add_job(1, {.audio = Seconds(210)}, {});
  dispatcher.offer(1, Seconds(30), 7, {});
  EXPECT_EQ(by_device(take_all(dispatcher, {})), (std::map<DeviceIndex, int>{{0, 2}, {1, 1}}))
      << "3 s on both together, and a window takes the slow one as long";
}

}  // namespace
}  // namespace tutti
