#include "train/classifier/baseline.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "feed/feature_cache.h"

namespace tutti {
namespace {

constexpr std::int64_t kChoosingFolds = 5;
constexpr std::array kStrengths{0.001, 0.01, 0.1, 1.0, 10.0};
// Clips that a cross-validation and the regression itself take of a large set, evenly: more change the choice no more.
constexpr std::int64_t kMostChoosing = 4000, kMostLearned = 50'000;

/// So many files of a set at most, evenly.
std::shared_ptr<const LabelledSet> some_of(const LabelledSet& set, std::int64_t most) {
  std::vector<std::int64_t> files;
  const auto count = std::min(set.files(), most);
  for (std::int64_t i = 0; i < count; ++i) files.push_back(i * set.files() / count);
  return set.of_files(files);
}

RegressionRows rows_of(const RegressionRows& all, const std::vector<std::int64_t>& files) {
  RegressionRows some{.width = all.width};
  for (const auto file : files) {
    const auto row = all.row(file);
    some.values.insert(some.values.end(), row.begin(), row.end());
    some.labels.push_back(all.labels[static_cast<std::size_t>(file)]);
  }
  return some;
}

/// How often each label counts, over rows that have them so often.
std::vector<double> weights_of(const RegressionRows& rows, std::size_t labels, const ClassifierRecipe& recipe,
                               std::int64_t boosted) {
  std::vector<double> counts(labels), weights(labels, 1);
  for (const auto label : rows.labels) ++counts[static_cast<std::size_t>(label)];
  const auto present = std::ranges::count_if(counts, [](double count) { return count > 0; });
  for (std::size_t k = 0; k < labels; ++k)
    if (recipe.loss.class_weights == ClassWeights::inverse && counts[k] > 0)
      weights[k] = static_cast<double>(rows.rows()) / (static_cast<double>(present) * counts[k]);
  if (recipe.network.binary_mode && boosted >= 0) weights[static_cast<std::size_t>(boosted)] *= recipe.network.boost;
  return weights;
}

/// Chooses the strength of a regression by cross-validation over groups.
class StrengthSearch {
 public:
  StrengthSearch(const LabelledSet& set, const ClassifierRecipe& recipe, std::int64_t boosted)
      : set_(set),
        recipe_(recipe),
        boosted_(boosted),
        folds_(group_folds(set, kChoosingFolds, recipe.arithmetic.seed)) {}

  std::int64_t folds() const { return folds_in(folds_); }

  /// The scores of all recordings, each named by what the other folds learned.
  ClassifierScores held_out(const RegressionRows& rows, double strength) const {
    std::vector<FileAnswer> clips(static_cast<std::size_t>(set_.files()));
    for (std::int64_t fold = 0; fold < folds(); ++fold) {
      const auto files = files_of_fold(folds_, fold);
      const auto learned = rows_of(rows, files.learned);
      const auto fitted =
          fitted_regression(learned, {strength, weights_of(learned, set_.labels().size(), recipe_, boosted_)});
      for (const auto file : files.held) {
        FileAnswer& answer = clips[static_cast<std::size_t>(file)];
        answer.label = set_.label_of_file(file);
        for (const double value : fitted.log_probabilities(rows.row(file)))
          answer.probabilities.push_back(static_cast<float>(std::exp(value)));
      }
    }
    return score_files(votes_of(clips, set_.recordings()), set_.labels().size());
  }

  /// The strength whose scores rank best, and those.
  std::pair<double, ClassifierScores> best(const RegressionRows& rows) const {
    std::optional<std::pair<double, ClassifierScores>> found;
    double least = 0;
    for (const double strength : kStrengths) {
      auto scores = held_out(rows, strength);
      const double rank = rank_of(scores);
      if (found && rank >= least) continue;
      least = rank;
      found = {strength, std::move(scores)};
    }
    return *std::move(found);
  }

 private:
  const LabelledSet& set_;
  const ClassifierRecipe& recipe_;
  std::int64_t boosted_;
  std::vector<std::int64_t> folds_;
};

/// The same rows, each less the mean of all its bands.
RegressionRows without_level(RegressionRows rows) {
  const auto width = static_cast<std::size_t>(rows.width), bands = width / 2;
  for (std::size_t first = 0; first < rows.values.size(); first += width) {
    double mean = 0;
    for (std::size_t band = 0; band < bands; ++band) mean += rows.values[first + band] / static_cast<double>(bands);
    for (std::size_t band = 0; band < bands; ++band) rows.values[first + band] -= mean;
  }
  return rows;
}

at::Tensor tensor_of(const std::vector<double>& values, at::IntArrayRef sizes) {
  return at::tensor(values, at::TensorOptions(at::kDouble)).to(at::kFloat).view(sizes);
}

ClassifierModel model_of(const LabelledSet& set, const LogisticRegression& fitted, const ClassifierRecipe& recipe,
                         const std::string& against) {
  const auto& geometry = set.geometry();
  const auto labels = fitted.labels();
  return {.geometry = geometry,
          .labels = set.labels(),
          .against = against,
          .is_binary = recipe.network.binary_mode,
          .is_baseline = true,
          .shape = {.n_mels = geometry.mel.n_mels, .frames = geometry.frames(), .labels = labels},
          .mean = at::zeros({geometry.mel.n_mels, 1}),
          .deviation = at::ones({geometry.mel.n_mels, 1}),
          .weights = {{"baseline.weight", tensor_of(fitted.weights, {labels, fitted.width})},
                      {"baseline.bias", tensor_of(fitted.biases, {labels})}}};
}

}  // namespace

RegressionRows band_statistics(const LabelledSet& set) {
  const auto& g = set.geometry();
  const auto bands = static_cast<std::size_t>(g.mel.n_mels), frames = static_cast<std::size_t>(g.frames());
  const auto segments = static_cast<std::size_t>(g.segments());
  RegressionRows rows{.width = 2 * g.mel.n_mels};
  rows.values.reserve(static_cast<std::size_t>(set.files()) * 2 * bands);
  for (std::int64_t file = 0; file < set.files(); ++file) {
    const auto clip = set.mel().subspan(static_cast<std::size_t>(file) * segments * bands * frames);
    std::vector<double> sums(bands), squares(bands);
    for (std::size_t segment = 0; segment < segments; ++segment)
      for (std::size_t band = 0; band < bands; ++band)
        for (std::size_t frame = 0; frame < frames; ++frame) {
          const double value = from_half(clip[(segment * bands + band) * frames + frame]);
          sums[band] += value;
          squares[band] += value * value;
        }
    const auto count = static_cast<double>(segments * frames);
    for (const double sum : sums) rows.values.push_back(sum / count);
    for (std::size_t band = 0; band < bands; ++band) {
      const double mean = sums[band] / count;
      rows.values.push_back(std::sqrt(std::max(0.0, squares[band] / count - mean * mean)));
    }
    rows.labels.push_back(set.label_of_file(file));
  }
  return rows;
}

TrainedBaseline trained_baseline(const LabelledSet& set, const ClassifierRecipe& recipe, const std::string& against) {
  const c10::AutoGradMode no_gradients(false);
  const auto found = std::ranges::find(set.labels(), against);
  const auto boosted = against.empty() || found == set.labels().end() ? -1 : found - set.labels().begin();
  const auto choosing = some_of(set, kMostChoosing);
  const StrengthSearch search(*choosing, recipe, boosted);
  TrainedBaseline baseline{.folds = search.folds()};
  if (baseline.folds > 1) {
    const auto rows = band_statistics(*choosing);
    std::tie(baseline.strength, baseline.held_out) = search.best(rows);
    const auto without = search.held_out(without_level(rows), baseline.strength);
    constexpr double kClearly = 0.01;
    baseline.needs_level = without.accuracy < baseline.held_out.accuracy - kClearly;
  }
  const auto learned = band_statistics(*some_of(set, kMostLearned));
  const auto fitted =
      fitted_regression(learned, {baseline.strength, weights_of(learned, set.labels().size(), recipe, boosted)});
  baseline.model = model_of(set, fitted, recipe, against);
  return baseline;
}

}  // namespace tutti
