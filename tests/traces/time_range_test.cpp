// Which events of a trace have lost their time.

#include "traces/time_range.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

namespace tutti {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000, kDay = 86'400 * kSecond;
constexpr Nanoseconds kNow = 1'699'236'267 * kSecond;

TimeRange range_of(std::initializer_list<Nanoseconds> starts) {
  TraceTimes times;
  for (const Nanoseconds start : starts) times.add(start);
  return times.range();
}

bool has(const TimeRange& range, Nanoseconds start, Nanoseconds length = 100) {
  return range.has({start, start + length});
}

TEST(TraceTimes, EventsFarFromMostHaveNoTime) {
  const TimeRange range =
      range_of({0, kNow, kNow + 1000, kNow + 2000, 5, -kDay, kNow + kDay, 3'000'000'000'000'000'000});
  EXPECT_EQ(range.first, kNow);
  EXPECT_EQ(range.last, kNow + 2000);
  for (const Nanoseconds lost : {Nanoseconds{0}, Nanoseconds{5}, -kDay, kNow + kDay, kNow - kDay})
    EXPECT_FALSE(has(range, lost));
  EXPECT_TRUE(has(range, kNow + 3000));
  EXPECT_TRUE(has(range, kNow - kSecond)) << "a launch before the first work";
  EXPECT_FALSE(has(range, kNow, kDay)) << "its end was lost";
}

TEST(TraceTimes, TimesThatBeginAtZeroAreTimes) {
  const TimeRange range = range_of({0, 1000, 2000, 90 * kSecond});
  EXPECT_TRUE(has(range, 0));
  EXPECT_TRUE(has(range, 90 * kSecond));
  EXPECT_TRUE(has(range_of({-5 * kSecond, -3 * kSecond}), 0));
  EXPECT_TRUE(has(range_of({0, 0}), 0)) << "nothing else is there";
}

TEST(TraceTimes, ZeroSoonAfterTheClocksStartIsNoTime) {
  const TimeRange range = range_of({0, 300 * kSecond, 301 * kSecond});
  EXPECT_FALSE(has(range, 0)) << "five minutes after the machine has started";
  EXPECT_TRUE(has(range, 250 * kSecond));
}

TEST(TraceTimes, FewEventsFarFromAShortTraceHaveNoTime) {
  constexpr Nanoseconds kMs = 1'000'000;
  for (const Nanoseconds away : {-300 * kSecond, -5 * kSecond, 5 * kSecond, 300 * kSecond}) {
    TraceTimes times;
    for (int i = 0; i < 8; ++i) times.add(kNow + i * kMs);
    times.add(kNow + away);
    const TimeRange range = times.range();
    EXPECT_EQ(range.first, kNow);
    EXPECT_EQ(range.last, kNow + 7 * kMs);
    EXPECT_FALSE(range.has_work({kNow + away, kNow + away + 50})) << away;
    EXPECT_TRUE(range.has({kNow - 5 * kSecond, kNow})) << "the host waited for its first batch";
  }
}

TEST(TraceTimes, WorkAtZeroOrWithALostEndIsFarFromAShortTrace) {
  constexpr Nanoseconds kMs = 1'000'000;
  TraceTimes times;
  for (int i = 0; i < 8; ++i) times.add(30 * kSecond + i * kMs);
  const TimeRange range = times.range();
  EXPECT_FALSE(range.has_work({0, 0}));
  EXPECT_FALSE(range.has_work({30 * kSecond, 330 * kSecond}));
  EXPECT_TRUE(range.has_work({30 * kSecond, 35 * kSecond})) << "a long kernel";
}

TEST(TraceTimes, SparsePhasesAreWhole) {
  TraceTimes slow, two;
  for (int i = 0; i < 100; ++i) slow.add(kNow + i * 3 * kSecond);
  EXPECT_EQ(slow.range().last, kNow + 297 * kSecond);
  for (int i = 0; i < 100; ++i) two.add(kNow + i + (i < 80 ? 0 : 60 * kSecond));
  EXPECT_EQ(two.range().first, kNow);
  EXPECT_GE(two.range().last, kNow + 60 * kSecond) << "a fifth of the events";
}

TEST(TraceTimes, LongPauseIsPartOfALongTrace) {
  TraceTimes times;
  for (int i = 0; i < 600; ++i) times.add(kNow + i * kSecond);
  for (int i = 0; i < 100; ++i) times.add(kNow + (600 + 3600 + i) * kSecond);
  EXPECT_EQ(times.range().first, kNow);
  EXPECT_EQ(times.range().last, kNow + 4299 * kSecond);
}

TEST(TraceTimes, TimesWithoutAPatternNeedBoundedMemory) {
  std::mt19937_64 random(7);
  TraceTimes times;
  for (int i = 0; i < 300'000; ++i) times.add(static_cast<Nanoseconds>(random() >> 2));
  const TimeRange range = times.range();
  EXPECT_LT(range.first, range.last);
  EXPECT_TRUE(has(range, range.first));
}

}  // namespace
}  // namespace tutti
