#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Note 003's decision by file whether one label is there: that of enough long segments.
struct FileDecision {
  double threshold = 0.5;   // a long segment has the label where its probability is at least this
  double long_share = 0.5;  // share of the long segments that have to: 20 of 40
};

/// The probability of each long segment: the mean over its short ones. `shorts`: of every short segment, in order.
std::vector<float> long_probabilities(std::span<const float> shorts, std::int64_t shorts_in_long);

/// Whether the file has the label. Pure.
bool has_label(const FileDecision& decision, std::span<const float> longs);

/// A file as a threshold is chosen by it.
struct DecidedFile {
  std::vector<float> longs{};
  bool has_label = false;  // the truth
};

/// Precision, recall and F1 of decisions.
struct DecisionScore {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};
/// By how many files were `decided` to have the label, how many have it (`there`), and how many both (`found`).
DecisionScore decision_score(std::int64_t found, std::int64_t decided, std::int64_t there);
DecisionScore score_decisions(const FileDecision& decision, std::span<const DecidedFile> files);

/// The threshold with the highest F1 of 0.10, 0.15 ... 0.90; of equals the one in the middle. 0.5 without files that
/// have the label.
double swept_threshold(std::span<const DecidedFile> files);

}  // namespace tutti
