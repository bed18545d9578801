// Batches that are handed on as they are whole, in place of the order in which they were chosen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "feed/corpus.h"
#include "feed/stages/batch_stage.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Three batches of one sample each, begun, as rows bring them to the batch stage.
class BatchOrderTest : public testing::Test {
 protected:
  explicit BatchOrderTest(BatchOrder order = BatchOrder::any) { options_.order = order; }

  void SetUp() override {
    board_.with([](PlanState& state) {
      for (std::int64_t i = 0; i < 3; ++i) state.planner.add(i, {{i, -1, 100}});
      state.planner.end_order();
    });
    for (std::int64_t i = 0; i < 3; ++i) {
      const PlannedBatch planned = board_.with([](PlanState& state) { return state.planner.choose(); });
      auto work = std::make_shared<PendingBatch>();
      work->batch.index = planned.number;
      work->batch.samples = {{.id = "s" + std::to_string(i), .frames = 100}};
      work->batch.frames = 100;
      work->batch.content = BatchClips(1);
      works_.push_back(work);
    }
  }
  /// The sample of batch `number` is ready; the ids and indices of the batches that are handed on for it.
  std::vector<std::pair<std::string, std::int64_t>> bring(std::size_t number) {
    auto row = std::make_unique<PendingSample>();
    row->work = works_[number];
    std::vector<std::pair<std::string, std::int64_t>> handed_on;
    EXPECT_TRUE(stage_.take(std::move(row), [&](Batch&& batch) {
      handed_on.emplace_back(batch.samples[0].id, batch.index);
      held_up_since_.push_back(batch.held_up_since);
      last_ = std::move(batch);
      return true;
    }));
    return handed_on;
  }

  FeedOptions options_{};
  PlanBoard board_{PlanState{Planner({.most_samples = 1, .by_length = false}, 1, 4)}};
  BufferPool buffers_{};
  std::unique_ptr<BadSamples> bad_ = std::move(*BadSamples::open({}, {}, 3));
  BatchStage stage_{"", options_, board_, buffers_, *bad_};
  std::vector<std::shared_ptr<PendingBatch>> works_{};
  Batch last_{};
  std::vector<std::optional<Clock::Instant>> held_up_since_{};
};

class PlannedOrderTest : public BatchOrderTest {
 protected:
  PlannedOrderTest() : BatchOrderTest(BatchOrder::planned) {}
};

TEST_F(BatchOrderTest, WholeBatchOvertakesOneThatWaitsForASlowFile) {
  EXPECT_THAT(bring(1), ElementsAre(std::pair("s1", 0)));
  EXPECT_THAT(bring(2), ElementsAre(std::pair("s2", 1)));
  EXPECT_THAT(bring(0), ElementsAre(std::pair("s0", 2)));
}

TEST_F(BatchOrderTest, PositionBehindAnOvertakingBatchHasTheOneThatWaits) {
  bring(1);
  Planner again({.most_samples = 1, .by_length = false}, 1, 4);
  ASSERT_TRUE(again.restore(last_.position));
  ASSERT_EQ(again.in_flight().size(), 2U);
  EXPECT_EQ(again.in_flight()[0].samples[0].index, 0);
  EXPECT_EQ(again.in_flight()[1].samples[0].index, 2);
  EXPECT_EQ(again.resolved(), 1);
}

TEST_F(PlannedOrderTest, WholeBatchWaitsAndTheSlowOneKnowsSince) {
  const auto before = Clock::real().now();
  EXPECT_THAT(bring(1), IsEmpty());
  EXPECT_THAT(bring(0), ElementsAre(std::pair("s0", 0), std::pair("s1", 1)));
  ASSERT_TRUE(held_up_since_[0]);
  EXPECT_GE(*held_up_since_[0], before);
  EXPECT_FALSE(held_up_since_[1]) << "none waited for it";
}

/// How often each sample came in each epoch.
std::map<std::pair<std::int64_t, std::string>, int> counts_of(std::span<const Batch> batches) {
  std::map<std::pair<std::int64_t, std::string>, int> counts;
  for (const Batch& batch : batches)
    for (const BatchSample& sample : batch.samples) ++counts[{batch.epoch, sample.id}];
  return counts;
}

TEST(AnyOrder, EachSampleComesOnceAnEpochAlsoBehindEveryPosition) {
  std::vector<double> lengths = mixed_lengths(60);
  for (double& seconds : lengths) seconds /= 4;
  lengths[7] = lengths[31] = 20;  // slow ones
  const Corpus corpus(lengths);
  (void)write_file_atomically(corpus.file(11), "no audio");
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 2;
  options.order = BatchOrder::any;
  options.threads = FeedThreads::of(4, 4);
  const auto whole = all_batches(options);
  const auto once = counts_of(whole);
  EXPECT_EQ(once.size(), 2 * 59U);
  EXPECT_TRUE(std::ranges::all_of(once, [](const auto& entry) { return entry.second == 1; }));
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    EXPECT_EQ(whole[at].index, static_cast<std::int64_t>(at));
    options.resume = whole[at].position;
    auto batches = all_batches(options);
    for (std::size_t i = 0; i <= at; ++i) batches.push_back({.epoch = whole[i].epoch, .samples = whole[i].samples});
    EXPECT_EQ(counts_of(batches), once) << at;
  }
}

}  // namespace
}  // namespace tutti
