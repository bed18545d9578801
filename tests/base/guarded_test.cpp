#include "base/guarded.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/periodic_thread.h"
#include "base/units.h"

namespace tutti {
namespace {

TEST(Guarded, ThreadsChangeOneAfterTheOther) {
  Guarded<std::vector<int>> all;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) all.with([&](auto& values) { values.push_back(i); });
      });
  }
  EXPECT_EQ(all.with([](const auto& values) { return values.size(); }), 4000U);
}

TEST(Guarded, WaitEndsWithTheChangeThatMakesItReady) {
  Guarded<int> value(0);
  auto waited = std::async(std::launch::async, [&] {
    return value.wait([](int now) { return now == 2; }, [](int& now) { return std::exchange(now, 7); });
  });
  value.change([](int& now) { now = 1; });
  value.change([](int& now) { now = 2; });
  EXPECT_EQ(waited.get(), 2);
  EXPECT_EQ(value.with([](int now) { return now; }), 7);
}

TEST(Guarded, WaitForEndsWithoutTheChange) {
  Guarded<int> value(0);
  EXPECT_FALSE(value.wait_for(Seconds(0.001), [](int now) { return now == 1; }));
  value.change([](int& now) { now = 1; });
  EXPECT_TRUE(value.wait_for(Seconds(0), [](int now) { return now == 1; }));
}

TEST(MutexLock, HoldsTheMutexButBetweenUnlockAndLock) {
  Mutex mutex;
  const auto is_free = [&] {
    return std::async(std::launch::async,
                      [&] {
                        const bool got = mutex.try_lock();
                        if (got) mutex.unlock();
                        return got;
                      })
        .get();
  };
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(is_free());
    lock.unlock();
    EXPECT_TRUE(is_free());
    lock.lock();
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
}

TEST(MutexLock, AdoptsAMutexThatIsLocked) {
  Mutex mutex;
  mutex.lock();
  { const MutexLock lock(mutex, std::adopt_lock); }
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(PeriodicThread, CallsUntilItGoes) {
  Guarded<int> calls(0);
  {
    const PeriodicThread thread(std::chrono::milliseconds(1), [&] { calls.change([](int& count) { ++count; }); });
    EXPECT_TRUE(calls.wait_for(Seconds(30), [](int count) { return count >= 3; }));
  }
  const int after = calls.with([](int count) { return count; });
  EXPECT_FALSE(calls.wait_for(Seconds(0.01), [&](int count) { return count != after; }));
}

TEST(PeriodicThread, AStopEndsTheWaitForTheNextCall) {
  std::stop_source stop;
  auto waited =
      std::async(std::launch::async, [&] { return wait_unless_stopped(stop.get_token(), std::chrono::hours(1)); });
  stop.request_stop();
  EXPECT_FALSE(waited.get());
  EXPECT_TRUE(wait_unless_stopped(std::stop_token(), std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace tutti
