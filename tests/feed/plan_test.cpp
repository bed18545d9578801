#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/random/counter_random.h"
#include "feed/plan/planner.h"
#include "feed/sample_order.h"
#include "feed/stages/plan_stage.h"

namespace tutti {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

TEST(Permutation, HoldsEveryIndexOnceForAnySize) {
  for (const std::int64_t size : {1, 2, 3, 5, 16, 17, 1000, 4097}) {
    const Permutation order(size, 5);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size; ++i) seen.insert(order.at(i));
    EXPECT_EQ(std::ssize(seen), size);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(Permutation, StaysTheSameForTheSameKey) {  // or no training could be resumed by a newer version
  const Permutation order(1000, 5);
  std::vector<std::int64_t> first(6);
  order.copy(0, first);
  EXPECT_THAT(first, ElementsAre(194, 850, 145, 572, 364, 698));
}

TEST(Permutation, CopiesWhatIsAtEachIndex) {
  const Permutation order(70'000, 3);
  std::vector<std::int64_t> some(1000);
  order.copy(500, some);
  for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(some[static_cast<std::size_t>(i)], order.at(500 + i));
}

TEST(Permutation, LooksLikeChance) {
  const Permutation order(10'000, 1), other(10'000, 2);
  std::int64_t neighbours = 0, same = 0, moved = 0;
  for (std::int64_t i = 0; i + 1 < 10'000; ++i) {
    neighbours += std::abs(order.at(i + 1) - order.at(i)) == 1;
    same += order.at(i) == other.at(i);
    moved += std::abs(order.at(i) - i);
  }
  EXPECT_LE(neighbours, 12);
  EXPECT_LE(same, 8);
  EXPECT_NEAR(static_cast<double>(moved) / 10'000, 3333, 150);
}

TEST(ChooseBatch, TakesTheOldestAndThoseOfLikeLength) {
  const std::vector<std::int32_t> waiting{100, 900, 105, 500, 98, 880};
  EXPECT_THAT(choose_batch(waiting, {.most_samples = 3}), ElementsAre(0, 2, 4));
}

TEST(ChooseBatch, KeepsToTheAudioBudgetPaddingIncluded) {
  CounterRandom random(3);
  std::vector<std::int32_t> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(static_cast<std::int32_t>(50 + random.below(950)));
  const BatchRules rules{.most_samples = 16, .most_frames = 4000};
  for (int round = 0; round < 20; ++round) {
    std::rotate(waiting.begin(), waiting.begin() + 1, waiting.end());
    std::int64_t longest = 0;
    const auto chosen = choose_batch(waiting, rules);
    for (const std::size_t at : chosen) longest = std::max<std::int64_t>(longest, waiting[at]);
    EXPECT_LE(longest * std::ssize(chosen), 4000);
    EXPECT_GE(longest * std::ssize(chosen), 2000) << "the budget is used";
    EXPECT_EQ(chosen.front(), 0U);
  }
}

TEST(ChooseBatch, ASampleAboveTheBudgetGoesAlone) {
  EXPECT_THAT(choose_batch(std::vector<std::int32_t>{5000, 10, 10}, {.most_samples = 4, .most_frames = 1000}),
              ElementsAre(0));
}

TEST(ChooseBatch, TakesAllWhenFewerWaitThanFit) {
  EXPECT_THAT(choose_batch(std::vector<std::int32_t>{100, 900, 500}, {.most_samples = 16}), ElementsAre(0, 1, 2));
}

TEST(ChooseBatch, SkipsSampleTooLongForTheFrameBudget) {
  const BatchRules rules{.most_samples = 16, .most_frames = 1000};
  EXPECT_THAT(choose_batch(std::vector<std::int32_t>{100, 120, 900, 110}, rules), ElementsAre(0, 1, 3));
}

TEST(ChooseReplacement, FitsBesideTheOthers) {
  EXPECT_EQ(choose_replacement(std::vector<std::int32_t>{900, 300, 480, 510}, 500), 2U);
  EXPECT_EQ(choose_replacement(std::vector<std::int32_t>{900, 700}, 500), 1U);
}

Planner planner_with(std::int64_t samples, std::size_t depth) {
  Planner planner({.most_samples = 2}, 4, depth);
  for (std::int64_t i = 0; i < samples; ++i) planner.add(i, {{i, -1, static_cast<std::int32_t>(100 + i)}});
  return planner;
}

TEST(Planner, WaitsForAFullWindowAndForSpace) {
  Planner planner = planner_with(3, 1);
  EXPECT_FALSE(planner.wants_batch());
  planner.add(3, {{3, -1, 103}});
  EXPECT_TRUE(planner.wants_batch());
  planner.choose();
  EXPECT_FALSE(planner.has_space());
  planner.resolve();
  EXPECT_TRUE(planner.has_space());
}

TEST(Planner, ComesBackFromACheckpointWithTheSameFuture) {
  Planner planner = planner_with(9, 3);
  planner.choose();
  planner.choose();
  Planner again({.most_samples = 2}, 4, 3);
  ASSERT_TRUE(again.restore(planner.save()));
  EXPECT_EQ(again.cursor(), 9);
  EXPECT_EQ(again.save(), planner.save());
  EXPECT_EQ(again.choose().samples, planner.choose().samples);
  EXPECT_EQ(again.replace({1}).samples, planner.replace({1}).samples);
}

TEST(Planner, APositionLateInALongRunIsAsSmallAsAnEarlyOne) {
  Planner planner({.most_samples = 16}, 512, 4);
  for (std::int64_t i = 0; i < 100'000; ++i) {
    planner.add(i, {{i, -1, static_cast<std::int32_t>(i % 700)}});
    while (planner.wants_batch()) {
      if (!planner.has_space()) planner.resolve();
      planner.choose();
    }
  }
  EXPECT_LE(planner.save().size(), 12'000U);
}

TEST(Planner, AnEpochLeavesInNoMoreBatchesThanItsSamplesFill) {
  CounterRandom random(5);
  Planner planner({.most_samples = 16}, 512, 4);
  for (std::int64_t i = 0; i < 600; ++i) {
    planner.add(i, {{i, -1, static_cast<std::int32_t>(50 + random.below(2950))}});
    if (i + 1 == 600) planner.end_order();
    while (planner.wants_batch()) {
      if (!planner.has_space()) planner.resolve();
      planner.choose();
    }
  }
  EXPECT_EQ(planner.in_flight().back().number, 37) << "37 of 16, and one of the 8 that are left";
  EXPECT_EQ(planner.in_flight().back().samples.size(), 8U);
}

TEST(Planner, RefusesACheckpointCutShort) {
  const std::string saved = planner_with(9, 3).save();
  for (std::size_t size = 0; size < saved.size(); ++size) {
    Planner planner({}, 4, 3);
    EXPECT_FALSE(planner.restore(std::string_view(saved).substr(0, size)));
  }
}

TEST(Planner, RowWithoutReplacementStaysEmpty) {
  Planner planner = planner_with(2, 1);
  planner.end_order();
  planner.choose();
  EXPECT_TRUE(planner.is_drained(0));
  EXPECT_EQ(planner.replace({0}).samples[0].index, -1);
}

/// A row as the plan stage passed it on, the oldest batch that was pending then, and the space for features of its own
/// batch.
struct HandedOut {
  std::int64_t batch = 0;
  std::int64_t oldest = 0;
  std::size_t space = 0;
};

/// Hands samples for three batches of two to a plan stage; `done` finishes or opens the first batch once its rows have
/// been handed on.
template <class Done>
std::vector<HandedOut> handed_out(Done done, Padding padding = Padding::bucket) {
  const FeedOptions options{.n_mels = 1, .padding = padding, .batch_size = 2};
  PlanBoard board(PlanState{Planner({.most_samples = 2, .by_length = false}, 2, 4)});
  BufferPool buffers;
  const auto bad = BadSamples::counting({});
  PlanStage stage(options, board, buffers, *bad);
  Guarded<std::vector<HandedOut>> rows;
  std::jthread planning([&] {
    const Emit<RowPtr> emit = [&](RowPtr&& row) {
      const auto oldest = board.with([](const PlanState& state) { return state.planner.in_flight().front().number; });
      rows.change([&](auto& all) { all.push_back({row->work->batch.index, oldest, row->work->batch.mel().size()}); });
      return true;
    };
    for (std::int64_t i = 0; i < 6; ++i) {
      Probed sample{.cursor = i, .index = i, .samples = {{i, -1, 10}}};
      EXPECT_TRUE(stage.take(std::move(sample), emit));
    }
  });
  rows.wait([](const auto& all) { return all.size() >= 2; }, [](const auto&) {});
  board.change(done);
  planning.join();
  return rows.with([](const auto& all) { return all; });
}

TEST(PlanStage, TheFirstBatchHasTheStagesBehindToItself) {
  const auto rows = handed_out([](PlanState& state) { state.planner.resolve(); });
  ASSERT_EQ(rows.size(), 6U);
  for (const auto& row : rows) EXPECT_EQ(row.oldest, row.batch == 0 ? 0 : 1) << "of batch " << row.batch;
}

TEST(PlanStage, AFirstBatchThatNeedsReplacementsHoldsNothingUp) {
  const auto rows = handed_out([](PlanState& state) { state.holes = Holes{.batch = 0, .rows = {1}}; });
  EXPECT_EQ(rows.size(), 6U) << "it is filled when the batches behind it have been chosen";
}

TEST(PlanStage, WindowPaddingTakesNoSpaceWhileBatchIsPending) {
  const auto done = [](PlanState& state) { state.planner.resolve(); };
  for (const auto& row : handed_out(done)) EXPECT_EQ(row.space, 20U);
  for (const auto& row : handed_out(done, Padding::window)) EXPECT_EQ(row.space, 0U) << "of 6000 numbers";
}

}  // namespace
}  // namespace tutti
