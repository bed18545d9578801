#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/labelled/labelled_set.h"
#include "recipe/classifier_recipe.h"
#include "train/classifier/logistic_regression.h"
#include "train/classifier/model.h"

namespace tutti {

/// The fold of every file of a set: whole groups, so that no fold shares one with another, with about as many files of
/// each label in each. There are `count` folds, or as many as the label with the fewest groups has of them, where that
/// is less; 1 where a label has one alone. Follows from groups and seed. Pure.
std::vector<std::int64_t> group_folds(const LabelledSet& set, std::int64_t count, std::uint64_t seed);

/// How many there are.
std::int64_t folds_in(const std::vector<std::int64_t>& folds);

/// The files of one fold, and those of all others.
struct FoldFiles {
  std::vector<std::int64_t> learned{};  ///< of the others
  std::vector<std::int64_t> held{};     ///< of the fold
};

/// Those of fold `fold`, each in the order of the set, so that clips of a recording stay one after another. Pure.
///
/// Every file is in one of the two.
FoldFiles files_of_fold(const std::vector<std::int64_t>& folds, std::int64_t fold);

/// What the plain baseline knows of a clip: mean and deviation of every band of its spectrogram over time, in
/// decibels. Each is a row of 2 n_mels values, the means first.
RegressionRows band_statistics(const LabelledSet& set);

/// The plain baseline of a set, and what its cross-validation over groups of that set found.
struct TrainedBaseline {
  ClassifierModel model{};      ///< on the CPU
  double strength = 1;          ///< of the regression (RegressionOptions), the best of a grid
  std::int64_t folds = 1;       ///< of the cross-validation; 1: a label has one group alone, and the strength is 1
  ClassifierScores held_out{};  ///< of the recordings of all folds, each by what the others learned
  /// Whether the level of a recording helps to name it: without the mean of all bands, fewer are named right. Then a
  /// network must not learn to ignore it (gain-db).
  bool needs_level = false;
};

/// Trains logistic regression on band statistics: labels count as the recipe has them, and the strength of its L2
/// penalty is chosen by cross-validation over groups within the set. `against`: the label whose decision by file the
/// model has, as networks do; empty: none. The same set and seed give the same bits on the same machine. One thread.
TrainedBaseline trained_baseline(const LabelledSet& set, const ClassifierRecipe& recipe, const std::string& against);

/// Chooses among a set and those beside it (set_with_front_end) by cross-validation over groups with the plain
/// baseline, on recordings of the parts for training and validation. The best one becomes `set`, and the others are
/// removed. The one that is there goes only for one that is better by a standard error of that many recordings. Returns
/// whether `set` is another one now; false where no other is there. Fault::corrupt for one whose parts have other
/// labels.
Result<bool> choose_front_end(const std::filesystem::path& set, const ClassifierRecipe& recipe);

}  // namespace tutti
