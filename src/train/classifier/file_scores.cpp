#include "train/classifier/file_scores.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr float kLeastProbability = 1e-7F;  // of a probability, where its logarithm is taken
constexpr double kTieShare = 1e-2, kHighestLoss = 10;

}  // namespace

std::int64_t answered_label(std::span<const float> probabilities) {
  return std::ranges::max_element(probabilities) - probabilities.begin();
}

std::int64_t label_of(const AgainstRule& rule, const FileAnswer& answer) {
  if (rule.label < 0) return answered_label(answer.probabilities);
  if (has_label(rule.decision, answer.longs)) return rule.label;
  auto others = answer.probabilities;
  others[static_cast<std::size_t>(rule.label)] = -1;
  return answered_label(others);
}

FileAnswer vote_of(std::span<const FileAnswer> clips) {
  FileAnswer vote = clips.front();
  vote.clips = std::ssize(clips);
  if (clips.size() == 1) return vote;
  std::vector<double> sums(vote.probabilities.size());
  vote.longs.clear();
  for (const auto& clip : clips) {
    for (std::size_t label = 0; label < sums.size(); ++label)
      sums[label] +=
          std::log(std::max(clip.probabilities[label], kLeastProbability)) / static_cast<double>(clips.size());
    vote.longs.insert(vote.longs.end(), clip.longs.begin(), clip.longs.end());
  }
  double all = 0;
  for (double& sum : sums) all += sum = std::exp(sum);
  for (std::size_t label = 0; label < sums.size(); ++label)
    vote.probabilities[label] = static_cast<float>(sums[label] / all);
  return vote;
}

std::vector<FileAnswer> votes_of(std::span<const FileAnswer> clips,
                                 std::span<const std::pair<std::int64_t, std::int64_t>> recordings) {
  std::vector<FileAnswer> votes;
  for (const auto& [first, end] : recordings) {
    votes.push_back(vote_of(clips.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first))));
    votes.back().first = first;
  }
  return votes;
}

std::vector<DecidedFile> decided_files(std::span<const FileAnswer> answers, std::int64_t label) {
  std::vector<DecidedFile> files;
  for (const auto& answer : answers) files.push_back({answer.longs, answer.label == label});
  return files;
}

ClassifierScores score_files(std::span<const FileAnswer> answers, std::size_t labels, const AgainstRule& rule) {
  ClassifierScores scores{.files = std::ssize(answers)};
  scores.labels.resize(labels);
  scores.confusion.assign(labels, std::vector<std::int64_t>(labels));
  std::int64_t right = 0;
  for (const auto& answer : answers) {
    const auto truth = static_cast<std::size_t>(answer.label);
    const auto answered = static_cast<std::size_t>(label_of(rule, answer));
    ++scores.confusion[truth][answered];
    right += truth == answered;
    scores.loss -= std::log(std::max(answer.probabilities[truth], kLeastProbability));
  }
  if (scores.files > 0) {
    scores.accuracy = static_cast<double>(right) / static_cast<double>(scores.files);
    scores.loss /= static_cast<double>(scores.files);
  }
  double sum = 0;
  std::int64_t present = 0;
  for (std::size_t label = 0; label < labels; ++label) {
    auto& score = scores.labels[label];
    std::int64_t answered = 0;
    for (std::size_t other = 0; other < labels; ++other) {
      score.files += scores.confusion[label][other];
      answered += scores.confusion[other][label];
    }
    static_cast<DecisionScore&>(score) = decision_score(scores.confusion[label][label], answered, score.files);
    if (score.files == 0) continue;
    sum += score.f1;
    ++present;
  }
  scores.macro_f1 = present > 0 ? sum / static_cast<double>(present) : 0;
  return scores;
}

double standard_error(double share, std::int64_t recordings) {
  constexpr double kLeast = 0.05;
  const double clamped = std::clamp(share, kLeast, 1 - kLeast);
  return std::sqrt(clamped * (1 - clamped) / static_cast<double>(recordings));
}

double rank_of(const ClassifierScores& scores) {
  return 1 - scores.macro_f1 + kTieShare * std::min(scores.loss, kHighestLoss);
}

TaskScores task_scores(const ClassifierScores& scores, const std::vector<std::string>& names, const AgainstRule& rule) {
  nlohmann::ordered_json json{
      {"accuracy", scores.accuracy}, {"macro_f1", scores.macro_f1}, {"loss", scores.loss}, {"files", scores.files}};
  for (std::size_t label = 0; label < names.size(); ++label) {
    const auto& score = scores.labels[label];
    json["labels"][names[label]] = {
        {"precision", score.precision}, {"recall", score.recall}, {"f1", score.f1}, {"files", score.files}};
  }
  const double tie = kTieShare * std::min(scores.loss, kHighestLoss);
  std::string decided;
  double rank = rank_of(scores);
  if (rule.label >= 0) {
    const auto& score = scores.labels[static_cast<std::size_t>(rule.label)];
    const auto& name = names[static_cast<std::size_t>(rule.label)];
    json["threshold"] = rule.decision.threshold;
    decided = name + " F1 " + fixed_text(100 * score.f1, 2) + " % at threshold " +
              fixed_text(rule.decision.threshold, 2) + ", ";
    rank = 1 - score.f1 + kTieShare * (1 - scores.macro_f1) + kTieShare * tie;
  }
  return {.rank = rank,
          .metrics = {{"accuracy", scores.accuracy}, {"macro_f1", scores.macro_f1}, {"loss", scores.loss}},
          .text = decided + "accuracy " + fixed_text(100 * scores.accuracy, 2) + " %, F1 " +
                  fixed_text(100 * scores.macro_f1, 2) + " % (mean over labels), loss " + fixed_text(scores.loss, 4) +
                  ", " + std::to_string(scores.files) + " files",
          .json = json_line(json)};
}

}  // namespace tutti
