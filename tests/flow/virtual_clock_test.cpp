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
  const auto from = Clock::real().now();
  {
    const VirtualClock::Hold one(clock), two(clock);
    std::this_thread::sleep_for(milliseconds(40));
  }
  const Seconds held = Clock::real().now() - from;
  const double delays = clock.delays().count();
  EXPECT_GE(delays, 0.02);
  EXPECT_LE(delays, held.count() / 2);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_NEAR(clock.delays().count(), delays, 1e-9) << "nothing holds it any more";
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
  EXPECT_GT(real, 0.05);
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
  constexpr int kItems = 25;
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

/// The same as a part of what it is without an experiment. A machine that wakes sleepers late does so in both.
double part_left(const std::string& sped_up, int threads_of_a, milliseconds a, milliseconds b) {
  const double before = item_time("none", threads_of_a, a, b);
  return item_time(sped_up, threads_of_a, a, b) / before;
}

TEST(VirtualSpeedupTimed, LimitingStageGainsUntilTheNextOneLimits) {
  EXPECT_NEAR(part_left("a", 1, milliseconds(12), milliseconds(8)), 0.67, 0.12);
}

TEST(VirtualSpeedupTimed, OtherStageGainsNothing) {
  EXPECT_NEAR(part_left("b", 1, milliseconds(12), milliseconds(8)), 1, 0.12);
}

TEST(VirtualSpeedupTimed, StageOfSeveralThreadsIsTwiceAsFast) {
  EXPECT_NEAR(part_left("a", 3, milliseconds(36), milliseconds(8)), 0.69, 0.12);
}

}  // namespace
}  // namespace tutti
