#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "feed/labelled/labelled_set.h"
#include "train/classifier/baseline.h"
#include "train/classifier/model.h"
#include "train/task.h"

namespace tutti {

/// A model's scores on a validation part.
struct ModelScores {
  TaskScores scores{};
  FileDecision decision{};      ///< with a second head: what they were taken by, swept on the other half of the part
  std::int64_t recordings = 0;  ///< that were scored: with a second head the half that did not choose its threshold
};

/// Scores a model on a validation part: with a label that is decided by file, the threshold of that is swept on one
/// half of the groups, and the other half is scored. `interrupted` ends it with Fault::cancelled.
Result<ModelScores> scored_on(ClassifierModel model, const LabelledSet& set, std::int64_t batch_size,
                              const std::function<bool()>& interrupted);

/// How the loss on the validation part went, by the lines of OUT/metrics.jsonl.
struct LossCourse {
  std::int64_t evaluations = 0;
  std::int64_t least_step = 0, last_step = 0;
  double least = 0, last = 0;

  /// The last one is a quarter above the least, and more than noise: what is learned since names others worse.
  bool rises() const;
};
LossCourse loss_course(std::string_view metrics);

/// What becomes OUT/model.
enum class Shipped { network, baseline, mixture };

/// "network", "baseline" or "mixture".
std::string_view name_of(Shipped shipped);

/// What a training came to: the network, the plain baseline, and the mixture of both (ClassifierModel::mixed_with).
struct Comparison {
  TaskScores network{};  ///< without a text: there is none
  TaskScores baseline{};
  TaskScores mixture{};    ///< without a text: there is none
  std::string held_out{};  ///< what both were compared on: "validation part", "cross-validation of 4 folds over groups"
  std::int64_t recordings = 0;  ///< of those
  LossCourse course{};

  /// What the network has to be better by: half a standard error of a share of so many recordings. It was chosen by
  /// them, and the baseline was not.
  double margin() const;
  /// The network is not better than the baseline by more than the margin, or there is none.
  bool ships_baseline() const { return network.text.empty() || baseline.rank <= network.rank + margin(); }
  /// The mixture ships where its mean F1 is higher than the baseline's, and its rank is no worse than the network's by
  /// more than two margins: a whole standard error, since the network is the best of many on these recordings, and the
  /// mixture is not. A lower loss alone does not count: a network that learned nothing makes any answer less certain.
  /// Where the network is worse than the baseline by as much, or the mixture is not good, the better one of the two
  /// ships.
  Shipped ships() const;
};

/// A line for each of the two, and which one ships.
std::string comparison_text(const Comparison& comparison);
/// A sentence for people on a loss that rises.
std::string rising_text(const LossCourse& course);
/// The same as an object, for OUT/result.json.
std::string comparison_json(const Comparison& comparison, const TrainedBaseline& baseline);

/// OUT/baseline becomes a model's folder with the baseline.
Result<void> keep_baseline(const std::filesystem::path& out, const ClassifierModel& baseline, const std::string& type);

/// The network that a training made, wherever it is: in OUT/model, or in OUT/network where another model ships.
/// Fault::missing where there is none.
Result<ClassifierModel> trained_network(const std::filesystem::path& out, at::Device device);

/// OUT/model becomes `other`, a baseline or a mixture, and the network OUT/network, where there is one. Null: the
/// network ships.
Result<void> ship(const std::filesystem::path& out, const ClassifierModel* network, const ClassifierModel* other,
                  const std::string& type);

}  // namespace tutti
