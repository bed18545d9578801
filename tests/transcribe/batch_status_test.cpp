#include "transcribe/batch/batch_status.h"

#include <gtest/gtest.h>

#include "jobs/open_store.h"
#include "support/temp_folder.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/counting_pool.h"

using namespace tutti;

namespace {

/// A batch on a pool that only counts.
class BatchStatusTest : public testing::Test {
 protected:
  TempFolder folder_;
  BatchOptions options_;
  CountingPool pool_;
};

}  // namespace

TEST_F(BatchStatusTest, CostSoFarIsThatOfEveryDeviceOrUnknown) {
  options_.state = folder_ / "state";
  options_.devices = {{.id = "left", .label = "left"}, {.id = "right", .label = "right"}};
  pool_.shown.devices = {{.id = "left"}, {.id = "right"}};
  pool_.shown.elapsed = Seconds(1800);
  const auto store = open_store({.url = options_.state}).value();
  BatchObserver observer;
  const BatchJobs files(options_, *store, pool_, observer);
  const auto status = [&] { return fleet_status(options_, files.snapshot(), pool_.view(), PoolMachine(options_)); };
  options_.prices = {{"left", 0.5}, {"right", 0.3}};
  EXPECT_DOUBLE_EQ(status().cost.value_or(0), 0.4) << "half an hour of both";
  EXPECT_EQ(status().devices.at(1).usd_hour, 0.3);
  options_.prices.erase("right");
  EXPECT_FALSE(status().cost) << "one has no price";
  EXPECT_EQ(status().devices.at(0).usd_hour, 0.5);
}

TEST_F(BatchStatusTest, JobWaitingForADeviceIsNotRunning) {
  options_.state = folder_ / "state";
  options_.run.batched = true;
  const auto store = open_store({.url = options_.state}).value();
  const RunId run = store->begin_run({.batch = "b"}).value();
  BatchObserver observer;
  BatchJobs files(options_, *store, pool_, observer);
  std::deque<BatchJob> jobs;
  for (const char* name : {"a", "b"}) {
    BatchJob& job = jobs.emplace_back();
    job.spec = {.key = name, .batch = "b", .input = folder_ / name, .identity = {1, 1}, .name = name};
    const BatchEntry requested = entry_of(store->submit(run, {&job.spec, 1})->front(), job, {});
    files.queue().add({&requested, 1});
  }
  files.queue().all_added();
  const auto first = files.source().next(), second = files.source().next();
  ASSERT_TRUE(first && second);
  const auto status = [&] { return fleet_status(options_, files.snapshot(), pool_.view(), PoolMachine(options_)); };
  EXPECT_EQ(status().running, 2U) << "their audio is decoded";
  ASSERT_TRUE(files.source().on_audio_decoded(second->index, Seconds(30)));
  EXPECT_EQ(status().running, 1U);
  EXPECT_EQ(status().waiting(), 1U);
  EXPECT_EQ(status().in_work.at(1).waiting_for, "capacity on a device");
}
