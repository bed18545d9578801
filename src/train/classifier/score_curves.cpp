#include "train/classifier/score_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {

ScoreCurve score_curve(std::vector<ScoredFile> files) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(files, std::ranges::greater(), &ScoredFile::score);
  const auto with = static_cast<double>(std::ranges::count(files, true, &ScoredFile::is_label));
  const auto without = static_cast<double>(files.size()) - with;
  ScoreCurve curve{.roc = {{0, 0}}};
  double hits = 0, alarms = 0;
  for (std::size_t i = 0; i < files.size();) {
    const double score = files[i].score, hits_before = hits, alarms_before = alarms;
    for (; i < files.size() && files[i].score == score; ++i) (files[i].is_label ? hits : alarms) += 1;
    // Files of equal scores are in any order: the area is the mean over the orders.
    curve.roc_area += (alarms - alarms_before) * (hits + hits_before) / 2;
    curve.average_precision += (hits - hits_before) * hits / (hits + alarms);
    if (with > 0 && without > 0) curve.roc.emplace_back(alarms / without, hits / with);
    if (with > 0) curve.precision.emplace_back(hits / with, hits / (hits + alarms));
  }
  curve.roc_area = with > 0 && without > 0 ? curve.roc_area / (with * without) : kNone;
  curve.average_precision = with > 0 ? curve.average_precision / with : kNone;
  return curve;
}

ScoreCurve label_curve(std::span<const FileAnswer> answers, std::size_t label) {
  std::vector<ScoredFile> files;
  for (const auto& answer : answers)
    files.push_back({answer.probabilities[label], answer.label == static_cast<std::int64_t>(label)});
  return score_curve(std::move(files));
}

Calibration calibration_of(std::span<const FileAnswer> answers, const AgainstRule& rule) {
  constexpr std::size_t kBins = 10;
  Calibration calibration{.bins = std::vector<CalibrationBin>(kBins)};
  for (const auto& answer : answers) {
    const auto label = label_of(rule, answer);
    const double score = answer.probabilities[static_cast<std::size_t>(label)];
    auto& bin = calibration.bins[std::min(kBins - 1, static_cast<std::size_t>(score * kBins))];
    ++bin.files;
    bin.score += score;
    bin.right += label == answer.label ? 1 : 0;
  }
  for (auto& bin : calibration.bins) {
    if (bin.files == 0) continue;
    calibration.error += std::abs(bin.score - bin.right) / static_cast<double>(answers.size());
    bin.score /= static_cast<double>(bin.files);
    bin.right /= static_cast<double>(bin.files);
  }
  return calibration;
}

std::map<std::string, GroupScore> group_scores(std::span<const FileAnswer> answers, const AgainstRule& rule,
                                               std::span<const std::string> groups) {
  std::map<std::string, GroupScore> scores;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& score = scores[groups[i]];
    ++score.files;
    score.right += label_of(rule, answers[i]) == answers[i].label;
  }
  return scores;
}

}  // namespace tutti
