#include "transcribe/batch/batch_history.h"

#include <gtest/gtest.h>

#include "jobs/open_store.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

const SpeedKey kKey{.device = "card", .model = "medium", .compute_type = "default", .concurrency = 10};

PooledDeviceView worked(Seconds audio, Seconds busy, double error) {
  return {.id = "card", .slots = 10, .error = error, .audio_done = audio, .busy = busy};
}

/// What a run with this device leaves: its speeds, and the store's record of its work.
struct Left {
  std::vector<SpeedRecord> speeds{};
  DeviceUse use{};
};

Left left_after(const PooledDeviceView& device, bool stopped = false) {
  const TempFolder folder;
  const auto store = open_store({.url = folder.path()}).value();
  BatchOptions options;
  options.run.model = kKey.model;
  options.run.compute_type = kKey.compute_type;
  BatchReport report;
  report.pool.devices = {device};
  report.interrupted = stopped;
  end_in_store(report, options, *store, store->begin_run({.command = "tutti batch"}).value());
  return {store->speeds(false).value(), store->runs(1).value().at(0).end.devices.at(0)};
}

std::vector<SpeedRecord> speeds_after(const PooledDeviceView& device, bool stopped = false) {
  return left_after(device, stopped).speeds;
}

}  // namespace

TEST(WholeSpeed, ShortClipChangesTheStoredSpeedByItsShareOnly) {
  const auto clip = worked(Seconds(0.5), Seconds(2), 0.86);
  const std::vector<SpeedRecord> known{{.key = kKey, .speed = 8, .samples = 20, .median_error = 0.1}};
  const auto speed = whole_speed(clip, kKey, known);
  ASSERT_TRUE(speed);
  EXPECT_NEAR(speed->speed, 600.5 / (75 + 2), 1e-9);
  EXPECT_EQ(speed->median_error, 0.1) << "of what most of it is";
  EXPECT_EQ(speed->samples, 20);
  EXPECT_FALSE(whole_speed(clip, kKey, {})) << "by itself it is too short";
}

TEST(WholeSpeed, SpeedAtOtherConcurrencyCountsInProportion) {
  const auto clip = worked(Seconds(0.5), Seconds(2), 0.86);
  const std::vector<SpeedRecord> known{{.key = kKey, .speed = 8, .samples = 20, .median_error = 0.1}};
  SpeedKey other = kKey;
  other.concurrency = 8;
  const auto speed = whole_speed(clip, other, known);
  ASSERT_TRUE(speed);
  EXPECT_EQ(speed->key, other);
  EXPECT_NEAR(speed->speed, 480.5 / (60 + 2), 1e-9) << "eight of ten";
  other.model = "tiny";
  EXPECT_FALSE(whole_speed(clip, other, known)) << "another model's is no measure";
}

TEST(WholeSpeed, StoredSpeedWeighsAtMostOneHour) {
  const std::vector<SpeedRecord> known{{.key = kKey, .speed = 10, .samples = 100'000, .median_error = 0.1}};
  const auto speed = whole_speed(worked(Seconds(7200), Seconds(360), 0.02), kKey, known);
  ASSERT_TRUE(speed);
  EXPECT_NEAR(speed->speed, (7200.0 + 3600) / (360 + 360), 1e-9);
  EXPECT_EQ(speed->median_error, 0.02);
  EXPECT_EQ(speed->samples, 120);
}

TEST(BatchHistory, KeepsTheSpeedAtFullConcurrencyLast) {
  PooledDeviceView device = worked(Seconds(600), Seconds(60), 0.1);
  device.speeds = {{.pieces = 1, .speed = 3, .samples = 40}, {.pieces = 16, .speed = 11, .samples = 200}};
  const auto kept = speeds_after(device);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].key.concurrency, 1);
  EXPECT_EQ(kept[1].key, kKey);
  EXPECT_NEAR(kept[1].speed, 10, 1e-9);
}

TEST(BatchHistory, KeepsNoSpeedOfADeviceWithReducedSlots) {
  PooledDeviceView device = worked(Seconds(600), Seconds(60), 0.1);
  device.speeds = {{.pieces = 16, .speed = 11, .samples = 200}};
  device.slots = 2;  // it warms up after a fault, say
  EXPECT_TRUE(speeds_after(device).empty()) << "two windows are not as fast as ten were";
}

TEST(BatchHistory, KeepsTheWindowCountOfCompletedRunsOnly) {
  PooledDeviceView device = worked(Seconds(600), Seconds(60), 0.1);
  device.windows_done = 25;
  const DeviceUse use = left_after(device).use;
  EXPECT_EQ(use.windows, 25);
  EXPECT_EQ(use.window_capacity, 10);
  EXPECT_FALSE(left_after(device, true).use.windows) << "much of the time went into what was not done";
}

TEST(BatchHistory, KeepsNoSpeedOfARunThatWasStoppedWhenMuchOfItWasInFlight) {
  EXPECT_TRUE(speeds_after(worked(Seconds(600), Seconds(60), 0.1), true).empty());
  EXPECT_EQ(speeds_after(worked(Seconds(6000), Seconds(600), 0.1), true).size(), 1U);
}
