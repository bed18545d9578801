// Runs as they would be with a stage twice as fast.

#include "flow/virtual_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "flow/pipeline.h"

namespace tutti {
namespace {

using std::chrono::milliseconds;

TEST(VirtualClockTimed, GoesAtHalfSpeedWhileItIsHeld) {
  VirtualClock clock;
  {
    const VirtualClock::Hold one(clock), two(clock);
    std::this_thread::sleep_for(milliseconds(40));
  }
  const double delays = clock.delays().count();
  EXPECT_GE(delays, 0.020);
  EXPECT_LT(delays, 0.025);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_DOUBLE_EQ(clock.delays().count(), delays) << "nothing holds it any more";
}

TEST(VirtualClockTimed, SleeperWakesLaterWhenItIsHeldMeanwhile) {
  VirtualClock clock;
  const Seconds from = clock.now();
  std::thread other([&] {
    const VirtualClock::Hold hold(clock);
    std::this_thread::sleep_for(milliseconds(40));
  });
  EXPECT_TRUE(clock.sleep_until(from + Seconds(0.04)));
  const double real = (clock.now() - from + clock.delays()).count();
  EXPECT_GT(real, 0.055);
  EXPECT_LT(real, 0.068);
  other.join();
}

TEST(VirtualClock, StopWakesSleepers) {
  VirtualClock clock;
  std::thread stopper([&] { clock.stop(); });
  EXPECT_FALSE(clock.sleep_until(Seconds(1e6)));
  stopper.join();
}

/// Milliseconds an item, of a pipeline of stages "a" and "b" that sleep, with one of them twice as fast.
double item_time(const std::string& sped_up, int threads_of_a, milliseconds a, milliseconds b) {
  constexpr int kItems = 30;
  VirtualSpeedup speedup(sped_up);
  Pipeline pipeline({.speedup = &speedup});
  auto items = pipeline.source("source", [next = 0]() mutable -> std::optional<Result<int>> {
    if (next == kItems) return std::nullopt;
    return next++;
  });
  const auto slow = [](milliseconds time) {
    return [time](int&& item) -> Result<int> {
      std::this_thread::sleep_for(time);
      return item;
    };
  };
  auto done = pipeline.map("a", std::move(items), slow(a), {.threads = threads_of_a, .output = {.items = 4}});
  pipeline.sink("b", std::move(done),
                [&, work = slow(b)](int&& item) -> Result<void> { return work(std::move(item)).map([](int) {}); });
  EXPECT_TRUE(pipeline.run());
  return 1e3 * (Seconds(pipeline.report().elapsed) - speedup.clock.delays()).count() / kItems;
}

TEST(VirtualSpeedupTimed, LimitingStageGainsUntilTheNextOneLimits) {
  EXPECT_NEAR(item_time("none", 1, milliseconds(6), milliseconds(4)), 6.2, 0.4);
  EXPECT_NEAR(item_time("a", 1, milliseconds(6), milliseconds(4)), 4.2, 0.4);
}

TEST(VirtualSpeedupTimed, OtherStageGainsNothing) {
  EXPECT_NEAR(item_time("b", 1, milliseconds(6), milliseconds(4)), 6.2, 0.4);
}

TEST(VirtualSpeedupTimed, StageOfSeveralThreadsIsTwiceAsFast) {
  EXPECT_NEAR(item_time("a", 3, milliseconds(18), milliseconds(4)), 4.3, 0.5);
}

}  // namespace
}  // namespace tutti
