#include "train/batch_ring.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "base/guarded.h"
#include "small_whisper.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// `count` batches of two samples each.
NextBatch batches(int count) {
  auto made = std::make_shared<int>(0);
  return [=]() -> Result<std::optional<Batch>> {
    if (*made == count) return std::optional<Batch>();
    auto batch = small_batch(2 * (*made)++, 2);
    batch.epoch = 7;
    return std::optional<Batch>(std::move(batch));
  };
}

/// A task that counts the batches it has prepared.
struct CountingTask : Task {
  const std::vector<Parameter>& trained() const override { return none; }
  at::Device device() const override { return at::kCPU; }
  TaskBatch prepare(const Batch& batch) override {
    if (fails) throw std::runtime_error("a shape that does not fit");
    if (is_full) throw std::bad_alloc();
    TaskBatch made;
    std::vector<std::string> ids;
    for (const auto& sample : batch.samples) ids.push_back(sample.id);
    made.ids = std::move(ids);
    prepared.change([](int& count) { ++count; });
    return made;
  }
  at::Tensor loss_sum(const std::vector<at::Tensor>&, bool) override { return {}; }
  std::map<std::string, std::string> files(const std::string&) const override { return {}; }
  std::vector<Parameter> weights() const override { return {}; }

  std::vector<Parameter> none{};
  Guarded<int> prepared{0};
  bool fails = false;
  bool is_full = false;
};

TEST(BatchRing, GivesPreparedBatchesInTheirOrderAndThenNone) {
  const auto task = small_task();
  BatchRing ring(*task, batches(6), {.depth = 2, .most_depth = 2});
  for (int i = 0; i < 6; ++i) {
    auto batch = ring.next();
    ASSERT_TRUE(batch && *batch);
    EXPECT_EQ((*batch)->rows.ids.all().front(), "sample-" + std::to_string(2 * i));
    EXPECT_EQ((*batch)->rows.inputs.size(), 3U);
    EXPECT_EQ((*batch)->position, std::to_string(2 * i + 2));
    EXPECT_EQ((*batch)->epoch, 7);
  }
  EXPECT_FALSE(ring.next().value());
  EXPECT_EQ(ring.report().batches, 6);
}

TEST(BatchRing, PreparesAsManyAheadAsItIsDeepBesideThoseOfTheStep) {
  CountingTask task;
  BatchRing ring(task, batches(20), {.depth = 3, .most_depth = 3, .in_step = 2});
  std::vector<RingBatch> held;
  for (int i = 0; i < 2; ++i) held.push_back(std::move(**ring.next()));
  task.prepared.wait([](int count) { return count == 5; }, [](int&) { return 0; });
  EXPECT_EQ(ring.report().depth, 3);
  held.clear();
  task.prepared.wait([](int count) { return count == 7; }, [](int&) { return 0; });
}

/// A task whose batches are large enough for torch to divide the work on them up.
struct LargeTask : CountingTask {
  TaskBatch prepare(const Batch& batch) override {
    at::zeros({1 << 20}).fill_(1);
    threads = omp_get_max_threads();
    return CountingTask::prepare(batch);
  }
  int threads = 0;
};

TEST(BatchRing, PreparesOnOneThreadOfTorchsBesideThoseOfTheStep) {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  LargeTask task;
  BatchRing ring(task, batches(1), {.depth = 1, .most_depth = 1});
  EXPECT_TRUE(ring.next().value());
  EXPECT_EQ(task.threads, 1);
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(before);
}

TEST(BatchRing, ABatchThatCannotBePreparedEndsItWithAReason) {
  CountingTask task;
  task.fails = true;
  BatchRing ring(task, batches(3), {});
  const auto batch = ring.next();
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().what, HasSubstr("batch 0 could not be prepared: a shape that does not fit"));
}

TEST(BatchRing, OutOfMemoryForABatchNamesARemedy) {
  CountingTask task;
  task.is_full = true;
  BatchRing ring(task, batches(3), {});
  const auto batch = ring.next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().fault, Fault::exhausted);
  EXPECT_THAT(batch.error().what, HasSubstr("batch 0 could not be prepared, memory ran out"));
  EXPECT_THAT(batch.error().hint, HasSubstr("ring-depth"));
}

TEST(BatchRing, CanBeDestroyedWhileBatchesWait) {
  CountingTask task;
  BatchRing ring(task, batches(1000), {});
  ASSERT_TRUE(ring.next());
}

}  // namespace
}  // namespace tutti
