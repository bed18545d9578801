#include "transcribe/batch/batch_status.h"

#include <gtest/gtest.h>

#include "jobs/open_store.h"
#include "support/temp_folder.h"
#include "transcribe/batch/batch_job_source.h"
#include "transcribe/counting_pool.h"

using namespace tutti;

namespace {

/// A batch without any job on devices as the pool shows them.
class BatchStatusTest : public testing::Test {
 protected:
  DeviceStatus status_of(const ResolvedDevice& device, const PooledDeviceView& view) {
    options_.state = folder_ / "state";
    options_.devices = {{.id = view.id, .label = view.id, .device = device}};
    pool_.shown.devices = {view};
    const auto store = open_store({.folder = options_.state}).value();
    BatchObserver observer;
    const BatchJobSource files(options_, *store, pool_, observer);
    return fleet_status(options_, files.snapshot(), pool_.view(), PoolMachine(options_)).devices.at(0);
  }

  TempFolder folder_;
  BatchOptions options_;
  CountingPool pool_;
};

}  // namespace

TEST_F(BatchStatusTest, EmulatedDeviceMemoryIsWhatTheBatchReserved) {
  ResolvedDevice card{.kind = ResolvedDevice::Kind::emulated, .name = "card"};
  card.card.memory = Bytes{12'000'000'000};
  const auto status = status_of(card, {.id = "card", .reserved = Bytes{2'500'000'000}});
  EXPECT_EQ(status.own_memory, Bytes{2'500'000'000});
  EXPECT_EQ(status.total_memory, Bytes{12'000'000'000});
}

TEST_F(BatchStatusTest, ASpeedThatWasOnlyGuessedIsNotExpected) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 2}).usual_speed);
  EXPECT_EQ(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).usual_speed, 3);
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).speed) << "it has done nothing yet";
}

TEST_F(BatchStatusTest, SpeedIsHiddenUntilMoreIsDoneThanInFlight) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .windows = 4, .speed = 3, .audio_done = Seconds(60), .busy = Seconds(60)};
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "better than nothing";
  view.speed_known = true;
  EXPECT_FALSE(status_of(cpu, view).speed);
  EXPECT_EQ(status_of(cpu, view).usual_speed, 3);
  view.audio_done = Seconds(240);
  EXPECT_EQ(status_of(cpu, view).speed, 4);
  view.audio_done = Seconds(60);
  view.windows = 0;
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "nothing is in flight";
}

TEST_F(BatchStatusTest, JobWaitingForADeviceIsNotRunning) {
  options_.state = folder_ / "state";
  options_.run.batched = true;
  const auto store = open_store({.folder = options_.state}).value();
  const RunId run = store->begin_run({.batch = "b"}).value();
  BatchObserver observer;
  BatchJobSource files(options_, *store, pool_, observer);
  std::deque<BatchJob> jobs;
  for (const char* name : {"a", "b"}) {
    BatchJob& job = jobs.emplace_back();
    job.spec = {.key = name, .batch = "b", .input = folder_ / name, .identity = {1, 1}, .name = name};
    const RequestedJob requested{.known = store->submit(run, {&job.spec, 1})->front(), .job = &job};
    files.queue().add({&requested, 1});
  }
  files.queue().all_added();
  const auto first = files.next(), second = files.next();
  ASSERT_TRUE(first && second);
  const auto status = [&] { return fleet_status(options_, files.snapshot(), pool_.view(), PoolMachine(options_)); };
  EXPECT_EQ(status().running, 2U) << "their audio is decoded";
  ASSERT_TRUE(files.on_audio_decoded(second->index, Seconds(30)));
  EXPECT_EQ(status().running, 1U);
  EXPECT_EQ(status().waiting(), 1U);
  EXPECT_EQ(status().in_work.at(1).waiting_for, "capacity on a device");
}

TEST_F(BatchStatusTest, OutOfMemoryStatusNamesTheWindowLimit) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .memory_loss = MemoryLoss{.times = 1, .all = 10, .least = 5, .now = 6}};
  EXPECT_EQ(status_of(cpu, view).memory_limit, "has run out of memory: at most 6 of 10 windows at once for now");
  view.memory_loss->now.reset();
  EXPECT_EQ(status_of(cpu, view).memory_limit, "");
}
