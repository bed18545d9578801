#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "feed/labelled/labelled_set.h"
#include "train/classifier/file_scores.h"

namespace tutti {

/// The answers to a part of a set, and what they are answers to.
struct AnsweredSet {
  const LabelledSet& set;
  const std::vector<FileAnswer>& answers;  ///< to every file, in order
  const std::vector<std::string>& labels;
  AgainstRule rule{};
};

/// Whether the set has groups of more than one file: only then a score by group is of use.
bool has_groups(const LabelledSet& set);

/// One object: what task_scores has, and of each label also roc_auc and average_precision (null: undefined), the
/// confusion (a row for each true label), calibration_error, calibration (score, right and files of each tenth), and
/// groups {NAME: {files, accuracy}} where there are any.
std::string set_report_json(const AnsweredSet& answered);

/// For people: the scores of every label, what it was taken for, calibration, and the worst groups.
std::string set_report_text(const AnsweredSet& answered);

/// A page with all of that as tables and curves, and the files that were named wrong with the highest score: each as a
/// picture of its features, and with a player where `audio` is the folder that the set was made of (empty: without).
std::string set_report_html(const AnsweredSet& answered, const std::filesystem::path& audio);

}  // namespace tutti
