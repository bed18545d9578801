#include "train/classifier/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// Trials whose network is the better, the nearer rate, batch and dropout are to an optimum that the recipe is far
/// from.
std::vector<TuningTrial> tried(const ClassifierRecipe& recipe, int count) {
  std::vector<TuningTrial> all;
  for (int i = 0; i < count; ++i) {
    auto trial = next_trial(recipe, recipe, 64, all);
    trial.taken = Seconds(1);
    trial.is_whole = true;
    trial.rank = std::abs(std::log10(trial.learning_rate / 4e-3)) + std::abs(std::log2(trial.batch_size / 32.0)) +
                 std::abs(trial.dropout - 0.5);
    all.push_back(trial);
  }
  return all;
}

}  // namespace

TEST(Tuner, FirstTrialHasTheRecipesOwnSettings) {
  ClassifierRecipe recipe;
  recipe.network.dropout = 0.3;
  recipe.optimiser.learning_rate = 2e-3;
  const auto trial = next_trial(recipe, recipe, 95, {});
  EXPECT_EQ(trial.learning_rate, 2e-3);
  EXPECT_EQ(trial.batch_size, 95);
  EXPECT_EQ(trial.dropout, 0.3);
}

TEST(Tuner, FirstTrialsChangeOneThingThatIsLeftOpen) {
  ClassifierRecipe named, settled;
  settled.augmentation.gain_db = 0;
  settled.augmentation.shift_share = 0.1;
  settled.network.channels = 16;
  std::vector<TuningTrial> all;
  for (int i = 0; i < 6; ++i) all.push_back(next_trial(settled, named, 64, all));
  EXPECT_EQ(all[0].gain_db, 0);
  EXPECT_EQ(all[1].gain_db, 6);
  EXPECT_EQ(all[2].shift_share, 0.3);
  EXPECT_EQ(all[2].gain_db, 0) << "the trial before was not the best";
  EXPECT_TRUE(all[3].use_specaugment);
  EXPECT_GT(all[4].mixup, 0);
  EXPECT_EQ(all[5].channels, 32);
  named.augmentation.gain_db = 0;
  EXPECT_EQ(next_trial(settled, named, 64, std::span(all).first(1)).gain_db, 0) << "what is named stays";
}

TEST(Tuner, TrialsFollowFromSeedAndWhatWasTried) {
  const ClassifierRecipe recipe;
  const auto all = tried(recipe, 8);
  const std::vector<TuningTrial> first(all.begin(), all.begin() + 5);
  EXPECT_EQ(next_trial(recipe, recipe, 64, first).learning_rate, all[5].learning_rate);
  ClassifierRecipe other;
  other.arithmetic.seed = 9;
  EXPECT_NE(next_trial(other, other, 64, first).learning_rate, all[5].learning_rate);
}

TEST(Tuner, RateBatchAndDropoutAreTriedWithinTheirBounds) {
  std::set<double> rates, dropouts;
  std::set<int> batches;
  for (const auto& trial : tried({}, 40)) {
    rates.insert(trial.learning_rate);
    batches.insert(trial.batch_size);
    dropouts.insert(trial.dropout);
    EXPECT_GE(trial.batch_size, 1);
    EXPECT_LE(trial.batch_size, 8192);
    EXPECT_GE(trial.dropout, 0);
    EXPECT_LE(trial.dropout, 0.6);
  }
  EXPECT_GT(rates.size(), 30U);
  EXPECT_GT(batches.size(), 10U);
  EXPECT_GT(dropouts.size(), 20U);
}

TEST(Tuner, BestOfManyIsBetterThanTheRecipe) {
  const auto all = tried({}, 24);
  EXPECT_LT(best_trial(all)->rank, 0.6 * all[0].rank);
}

TEST(Tuner, TrialThatWasCutShortIsNeverTheBest) {
  std::vector<TuningTrial> all = tried({}, 2);
  all.push_back({.number = 2, .learning_rate = 1, .batch_size = 1, .is_whole = false, .rank = -5});
  EXPECT_LT(best_trial(all)->number, 2);
  EXPECT_EQ(best_trial(std::span(all).last(1)), nullptr);
}

TEST(Tuner, TimeEndsTheTrials) {
  const auto all = tried({}, 3);
  EXPECT_TRUE(has_time_for_trial({}, Seconds(1)));
  EXPECT_TRUE(has_time_for_trial(all, Seconds(3.6)));
  EXPECT_FALSE(has_time_for_trial(all, Seconds(3.4))) << "less than half a trial is left";
}

TEST(Tuner, RecordedTrialsAreReadAgain) {
  const TempFolder folder;
  const auto path = folder / "tuning.jsonl";
  EXPECT_TRUE(read_trials(path)->empty());
  const auto all = tried({}, 3);
  ASSERT_TRUE(write_trials(path, all));
  const auto again = read_trials(path);
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(settings_text((*again)[i]), settings_text(all[i]));
    EXPECT_EQ((*again)[i].rank, all[i].rank);
    EXPECT_EQ((*again)[i].taken, all[i].taken);
    EXPECT_TRUE((*again)[i].is_whole);
  }
  std::ofstream(path, std::ios::app) << "{\"trial\":7}\n";
  EXPECT_EQ(read_trials(path).error().fault, Fault::corrupt);
}
