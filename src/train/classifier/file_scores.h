#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "train/classifier/file_decision.h"
#include "train/task.h"

namespace tutti {

/// What a classifier answers to one file, and what the file is. Of a recording with several clips in a set, their vote.
struct FileAnswer {
  std::vector<float> probabilities{};  // probability of each label
  std::int64_t label = 0;              // the true one
  std::vector<float> longs{};          // probability of the label of the second head, of each long segment; empty: none
  std::int64_t first = 0;              // the first of its clips in its set
  std::int64_t clips = 1;
};

/// The vote of a recording's clips: the mean of the logarithms of their probabilities, which are then made to add up to
/// 1, and the long segments of all. Of one clip exactly its own answer. Pure.
FileAnswer vote_of(std::span<const FileAnswer> clips);

/// The votes of all recordings, each of which has the clips [first, end).
std::vector<FileAnswer> votes_of(std::span<const FileAnswer> clips,
                                 std::span<const std::pair<std::int64_t, std::int64_t>> recordings);

/// How well one label is found.
struct LabelScore : DecisionScore {
  std::int64_t files = 0;  // that have it
};

/// How well a set is classified.
struct ClassifierScores {
  double accuracy = 0;
  double macro_f1 = 0;  // the mean over the labels that the set has
  double loss = 0;      // mean cross-entropy of files
  std::int64_t files = 0;
  std::vector<LabelScore> labels{};
  std::vector<std::vector<std::int64_t>> confusion{};  // [true label][answered label]
};

/// The label with the highest probability; the first of equals.
std::int64_t answered_label(std::span<const float> probabilities);

/// The label of the second head, and how a file is decided to have it.
struct AgainstRule {
  std::int64_t label = -1;  // -1: there is no such head
  FileDecision decision{};
};

/// The label of a file: that of the second head where its long segments decide so, else the most probable of the
/// others; without such a head the most probable of all.
std::int64_t label_of(const AgainstRule& rule, const FileAnswer& answer);

/// Scores answers over so many labels. Pure.
ClassifierScores score_files(std::span<const FileAnswer> answers, std::size_t labels, const AgainstRule& rule = {});

/// The files of `answers` as a threshold is chosen by them.
std::vector<DecidedFile> decided_files(std::span<const FileAnswer> answers, std::int64_t label);

/// The standard error of a share of so many recordings, such as of an accuracy: of 0.05 for shares nearer to 0 or 1.
/// Pure.
double standard_error(double share, std::int64_t recordings);

/// What ranks networks without a second head, the lower the better: 1 - macro F1; the loss breaks ties.
double rank_of(const ClassifierScores& scores);

/// As a training sees them: 1 - macro F1 ranks networks, the loss breaks ties; with a second head its label's F1 ranks.
TaskScores task_scores(const ClassifierScores& scores, const std::vector<std::string>& names,
                       const AgainstRule& rule = {});

}  // namespace tutti
