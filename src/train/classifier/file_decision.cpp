#include "train/classifier/file_decision.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr int kFirstStep = 2, kLastStep = 18;  // twentieths: 0.10 to 0.90
constexpr double kStep = 0.05;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

std::vector<float> long_probabilities(std::span<const float> shorts, std::int64_t shorts_in_long) {
  const auto step = static_cast<std::size_t>(shorts_in_long);
  std::vector<float> longs;
  for (std::size_t first = 0; first + step <= shorts.size(); first += step) {
    double sum = 0;
    for (const float value : shorts.subspan(first, step)) sum += value;
    longs.push_back(static_cast<float>(sum / static_cast<double>(step)));
  }
  return longs;
}

bool has_label(const FileDecision& decision, std::span<const float> longs) {
  const auto reached = std::ranges::count_if(longs, [&](float value) { return value >= decision.threshold; });
  return static_cast<double>(reached) >= decision.long_share * static_cast<double>(longs.size());
}

DecisionScore decision_score(std::int64_t found, std::int64_t decided, std::int64_t there) {
  return {share_of(found, decided), share_of(found, there), share_of(2 * found, decided + there)};
}

DecisionScore score_decisions(const FileDecision& decision, std::span<const DecidedFile> files) {
  std::int64_t found = 0, decided = 0, there = 0;
  for (const auto& file : files) {
    const bool answer = has_label(decision, file.longs);
    found += answer && file.has_label;
    decided += answer;
    there += file.has_label;
  }
  return decision_score(found, decided, there);
}

double swept_threshold(std::span<const DecidedFile> files) {
  double best = 0;
  std::vector<int> equal;
  for (int step = kFirstStep; step <= kLastStep; ++step) {
    const double f1 = score_decisions({.threshold = step * kStep}, files).f1;
    if (f1 > best) equal.clear();
    best = std::max(best, f1);
    if (f1 == best && f1 > 0) equal.push_back(step);
  }
  return equal.empty() ? FileDecision{}.threshold : equal[equal.size() / 2] * kStep;
}

}  // namespace tutti
