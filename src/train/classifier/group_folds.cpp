// Folds of a cross-validation, which no group is in two of.

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/random/counter_random.h"
#include "train/classifier/baseline.h"

namespace tutti {
namespace {

/// Files that stay together.
struct FoldGroup {
  std::string name{};
  std::vector<std::int64_t> files{};
  std::vector<std::int64_t> counts{};  // files of each label
};

std::vector<FoldGroup> groups_of_set(const LabelledSet& set, std::uint64_t seed) {
  std::map<std::string, FoldGroup> by_name;
  for (std::int64_t file = 0; file < set.files(); ++file) {
    auto& group = by_name[set.group_of_file(file)];
    group.files.push_back(file);
    group.counts.resize(set.labels().size());
    ++group.counts[static_cast<std::size_t>(set.label_of_file(file))];
  }
  std::vector<FoldGroup> groups;
  for (auto& [name, group] : by_name) {
    group.name = name;
    groups.push_back(std::move(group));
  }
  const auto draw = [seed](const FoldGroup& group) { return mixed({seed, digest("folds"), digest(group.name)}); };
  std::ranges::sort(groups, [&](const FoldGroup& a, const FoldGroup& b) {  // big ones first, for they fit last
    return a.files.size() != b.files.size() ? a.files.size() > b.files.size() : draw(a) < draw(b);
  });
  return groups;
}

/// Groups of the label that has the fewest of them.
std::int64_t fewest_groups(const std::vector<FoldGroup>& groups, std::size_t labels) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t label = 0; label < labels; ++label) {
    const auto having = std::ranges::count_if(groups, [&](const FoldGroup& one) { return one.counts[label] > 0; });
    if (having > 0) fewest = std::min<std::int64_t>(fewest, having);
  }
  return fewest;
}

}  // namespace

std::vector<std::int64_t> group_folds(const LabelledSet& set, std::int64_t count, std::uint64_t seed) {
  const auto groups = groups_of_set(set, seed);
  const auto labels = set.labels().size();
  const auto folds = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 1, fewest_groups(groups, labels)));
  std::vector<std::vector<double>> filled(folds, std::vector<double>(labels));
  std::vector<double> totals(labels);
  for (const auto& group : groups)
    for (std::size_t label = 0; label < labels; ++label) totals[label] += static_cast<double>(group.counts[label]);
  std::vector<std::int64_t> fold_of(static_cast<std::size_t>(set.files()));
  for (const auto& group : groups) {
    const auto full = [&](const std::vector<double>& fold) {  // of the group's labels, by their shares
      double sum = 0;
      for (std::size_t label = 0; label < labels; ++label)
        if (group.counts[label] > 0) sum += fold[label] / totals[label];
      return sum;
    };
    const auto best = std::ranges::min_element(filled, {}, full);
    for (std::size_t label = 0; label < labels; ++label) (*best)[label] += static_cast<double>(group.counts[label]);
    for (const auto file : group.files) fold_of[static_cast<std::size_t>(file)] = best - filled.begin();
  }
  return fold_of;
}

std::int64_t folds_in(const std::vector<std::int64_t>& folds) {
  return folds.empty() ? 0 : *std::ranges::max_element(folds) + 1;
}

FoldFiles files_of_fold(const std::vector<std::int64_t>& folds, std::int64_t fold) {
  FoldFiles files;
  for (std::size_t i = 0; i < folds.size(); ++i)
    (folds[i] == fold ? files.held : files.learned).push_back(static_cast<std::int64_t>(i));
  return files;
}

}  // namespace tutti
