#include <gtest/gtest.h>

#include "balance/dispatcher.h"
#include "driving.h"

namespace tutti {
namespace {

/// Windows of these lengths, one after the other, each of which takes half a second and 1/40 of its audio.
double do_windows(Dispatcher& dispatcher, const std::vector<double>& lengths, double now) {
  for (const double length : lengths) {
    dispatcher.offer(1, Seconds(length), 1, Seconds(now));
    const auto grant = dispatcher.next(Seconds(now));
    EXPECT_TRUE(grant);
    if (!grant) return now;
    now += 0.5 + length / 40;
    dispatcher.finished(grant->id, Seconds(now));
  }
  return now;
}

TEST(TimeLeft, TimeLeftIncludesTheFixedCostOfWindows) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(1000)}, {});
  std::vector<double> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back(10 + 5 * (i % 5));
  const double now = do_windows(dispatcher, lengths, 0);
  dispatcher.end_job(1, Seconds(now));
  dispatcher.add_job(2, {.audio = Seconds(600)}, Seconds(now));
  EXPECT_NEAR(dispatcher.queue(Seconds(now)).expected_left->count(), 20 * (0.5 + 30 / 40.0), 0.5);
  for (JobKey id = 3; id < 13; ++id) dispatcher.add_job(id, {.audio = Seconds(10)}, Seconds(now));
  EXPECT_NEAR(dispatcher.queue(Seconds(now)).expected_left->count(), 25 + 10 * (0.5 + 10 / 40.0), 0.8);
  EXPECT_NEAR(dispatcher.devices(Seconds(now))[0].speed, 21, 1) << "of windows as it had them: 40 of audio alone";
}

TEST(TimeLeft, ErrorGrowsForWindowLengthsNeverMeasured) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(900)}, {});
  const double now = do_windows(dispatcher, std::vector<double>(30, 30), 0);
  dispatcher.end_job(1, Seconds(now));
  EXPECT_EQ(dispatcher.devices(Seconds(now))[0].windows_done, 30);
  dispatcher.add_job(2, {.audio = Seconds(30)}, Seconds(now));
  const double alike = dispatcher.queue(Seconds(now)).error;
  for (JobKey id = 3; id < 60; ++id) dispatcher.add_job(id, {.audio = Seconds(10)}, Seconds(now));
  EXPECT_GT(dispatcher.queue(Seconds(now)).error, alike + 0.5);
  EXPECT_LE(dispatcher.queue(Seconds(now)).error, 1) << "nothing ends before now";
}

TEST(TimeLeft, FullWindowIsNotExpectedToCostAsMuchAsItsClips) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(900)}, {});
  std::vector<double> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back(1 + i % 5);
  const double now = do_windows(dispatcher, lengths, 0);
  const DeviceView clips = dispatcher.devices(Seconds(now))[0];
  EXPECT_NEAR(clips.speed, 5.9, 0.2);
  EXPECT_GT(clips.single, 1.5 * clips.speed) << "or a worker that hangs would be waited for as much longer";
}

}  // namespace
}  // namespace tutti
