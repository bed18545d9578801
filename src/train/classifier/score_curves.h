#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "train/classifier/file_scores.h"

namespace tutti {

/// A score, and whether the file has the label that it is for.
struct ScoredFile {
  double score = 0;
  bool is_label = false;
};

/// How well a score ranks files that have a label before those that have not. Points of equal scores are one.
struct ScoreCurve {
  std::vector<std::pair<double, double>> roc{};        ///< (false positive rate, true positive rate), from (0, 0)
  std::vector<std::pair<double, double>> precision{};  ///< (recall, precision), from the highest score on
  double roc_area = 0;           ///< 0.5: chance; NaN where one of the two kinds of files is missing
  double average_precision = 0;  ///< the sum of precision times gain of recall; NaN where no file has the label
};
ScoreCurve score_curve(std::vector<ScoredFile> files);

/// The curve of one label by its probability.
ScoreCurve label_curve(std::span<const FileAnswer> answers, std::size_t label);

/// Answers with a score in one stretch of [0, 1].
struct CalibrationBin {
  std::int64_t files = 0;
  double score = 0;  ///< mean
  double right = 0;  ///< share
};

/// Whether a score of 0.9 is right nine times of ten: answers in ten stretches of score.
struct Calibration {
  std::vector<CalibrationBin> bins{};
  double error = 0;  ///< expected calibration error: mean of |score - right| over the files (Guo et al. 2017)
};
Calibration calibration_of(std::span<const FileAnswer> answers, const AgainstRule& rule);

/// The files of one group, such as a sensor or a speaker.
struct GroupScore {
  std::int64_t files = 0;
  std::int64_t right = 0;
};

/// `groups` names the group of each answer.
std::map<std::string, GroupScore> group_scores(std::span<const FileAnswer> answers, const AgainstRule& rule,
                                               std::span<const std::string> groups);

}  // namespace tutti
