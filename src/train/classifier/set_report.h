#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_waveforms.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/score_curves.h"

namespace tutti {

/// The answers to a part of a set, and how good they are, scored once for all its reports.
struct ScoredSet {
  const LabelledSet& set;
  const std::vector<FileAnswer>& answers;  ///< to every file, in order
  const std::vector<std::string>& labels;
  AgainstRule rule{};
  ClassifierScores scores{};
  TaskScores summary{};
  std::vector<ScoreCurve> curves{};  ///< curves of each label
  Calibration calibration{};
  std::map<std::string, GroupScore> groups{};  ///< empty where no group has two files: they would add nothing
};

/// Scores the answers to a set. The three are to live as long as what is returned.
ScoredSet scored_set(const LabelledSet& set, const std::vector<FileAnswer>& answers,
                     const std::vector<std::string>& labels, const AgainstRule& rule);

/// One object: what task_scores has, and of each label also roc_auc and average_precision (null: undefined), the
/// confusion (a row for each true label), calibration_error, calibration (score, right and files of each tenth), and
/// groups {NAME: {files, accuracy}} where there are any.
std::string set_report_json(const ScoredSet& scored);

/// For people: the scores of every label, what it was taken for, calibration, and the worst groups.
std::string set_report_text(const ScoredSet& scored);

/// What a page plays files from.
struct ReportAudio {
  std::filesystem::path folder{};           ///< that the set was made of; empty: not known
  std::optional<SetWaveforms> waveforms{};  ///< else; a page holds the few that it plays
};

/// A page with all of that as tables and curves, and the files that were named wrong with the highest score: each as a
/// picture of its features, and with a player where `playing` finds its audio.
std::string set_report_html(const ScoredSet& scored, const ReportAudio& playing);

}  // namespace tutti
