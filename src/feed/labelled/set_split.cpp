#include "feed/labelled/set_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/field_names.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kParts = 3, kTraining = 0, kValidation = 1, kTesting = 2;
using PartCounts = std::array<std::int64_t, kParts>;

std::size_t index_of(SetPart part) {
  return static_cast<std::size_t>(part) - static_cast<std::size_t>(SetPart::training);
}

SetPart part_at(std::size_t index) {
  return static_cast<SetPart>(index + static_cast<std::size_t>(SetPart::training));
}

/// Files that stay together, and how many of each label they are.
struct Group {
  std::string name{};
  std::vector<std::size_t> files{};
  std::map<std::size_t, std::int64_t> labels{};
  std::size_t part = 0;
};

/// Draws the parts of groups.
class Drawing {
 public:
  Drawing(std::vector<Group> groups, std::size_t labels, std::array<double, kParts> shares)
      : groups_(std::move(groups)), shares_(shares), totals_(labels), filled_(labels), groups_in_(labels) {
    for (const auto& group : groups_)
      for (const auto& [label, count] : group.labels) totals_[label] += count;
  }

  std::vector<Group> run() {
    for (auto& group : groups_) put(group, fullest_need(group));
    for (std::size_t label = 0; label < totals_.size(); ++label)
      for (const std::size_t part : {kTraining, kValidation})
        if (shares_[part] > 0 && totals_[label] > 0 && groups_in_[label][part] == 0) move_one(label, part);
    for (std::size_t label = 0; label < totals_.size(); ++label)
      if (shares_[kTesting] > 0 && totals_[label] > 0 && groups_in_[label][kTesting] == 0) move_one(label, kTesting);
    return std::move(groups_);
  }

 private:
  /// The part that lacks most of what the group has, each label by its share.
  std::size_t fullest_need(const Group& group) const {
    std::array<double, kParts> need{};
    for (std::size_t part = 0; part < kParts; ++part)
      for (const auto& [label, count] : group.labels) {
        const double all = static_cast<double>(totals_[label]);
        const double lacks = shares_[part] * all - static_cast<double>(filled_[label][part]);
        need[part] += lacks / all;
      }
    return static_cast<std::size_t>(std::ranges::max_element(need) - need.begin());
  }
  void put(Group& group, std::size_t part) {
    group.part = part;
    for (const auto& [label, count] : group.labels) {
      filled_[label][part] += count;
      ++groups_in_[label][part];
    }
  }
  void remove(const Group& group) {
    for (const auto& [label, count] : group.labels) {
      filled_[label][group.part] -= count;
      --groups_in_[label][group.part];
    }
  }
  /// Whether a group may leave its part: others keep each of its labels there. Training keeps two where testing would
  /// get the group, for testing may be left without.
  bool can_go(const Group& group, std::size_t to) const {
    if (group.part == kTesting) return true;
    if (to == kTesting && group.part != kTraining) return false;
    const std::int64_t kept = to == kTesting ? 2 : 1;
    return std::ranges::all_of(group.labels, [&](const auto& has) { return groups_in_[has.first][group.part] > kept; });
  }
  /// How far all labels would be from their shares, were the group in that part: it has other labels, too.
  double distance_with(const Group& group, std::size_t to) const {
    double distance = 0;
    for (const auto& [label, count] : group.labels)
      for (std::size_t part = 0; part < kParts; ++part) {
        const auto moved = (part == to ? count : 0) - (part == group.part ? count : 0);
        const double all = static_cast<double>(totals_[label]);
        distance += std::abs(static_cast<double>(filled_[label][part] + moved) / all - shares_[part]) -
                    std::abs(static_cast<double>(filled_[label][part]) / all - shares_[part]);
      }
    return distance;
  }
  /// Moves a group with the label to the part, from one that can spare it: to testing the one that fits best, else the
  /// smallest.
  void move_one(std::size_t label, std::size_t part) {
    Group* smallest = nullptr;
    const auto cost = [&](const Group& group) {
      return part == kTesting ? distance_with(group, part) : static_cast<double>(group.files.size());
    };
    for (auto& group : groups_) {
      if (!group.labels.contains(label) || group.part == part || !can_go(group, part)) continue;
      if (!smallest || cost(group) < cost(*smallest)) smallest = &group;
    }
    if (!smallest) return;
    remove(*smallest);
    put(*smallest, part);
  }

  std::vector<Group> groups_;
  std::array<double, kParts> shares_;
  std::vector<std::int64_t> totals_;
  std::vector<PartCounts> filled_;
  std::vector<PartCounts> groups_in_;
};

std::vector<std::string> labels_of(std::span<const LabelledFile> files) {
  std::vector<std::string> labels;
  for (const auto& file : files) labels.push_back(file.label);
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  return labels;
}

std::size_t label_index(const std::vector<std::string>& labels, const std::string& label) {
  return static_cast<std::size_t>(std::ranges::lower_bound(labels, label) - labels.begin());
}

/// The groups of the files that `counts`, in an order that follows from the seed: big ones first, for they fit last.
template <class Counts>
std::vector<Group> groups_of(std::span<const LabelledFile> files, const std::vector<std::string>& labels,
                             std::uint64_t seed, Counts counts) {
  std::map<std::string, Group> by_name;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!counts(files[i])) continue;
    auto& group = by_name[files[i].group];
    group.name = files[i].group;
    group.files.push_back(i);
    ++group.labels[label_index(labels, files[i].label)];
  }
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));
  const auto draw = [seed](const Group& group) { return mixed({seed, digest("split"), digest(group.name)}); };
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    return a.files.size() != b.files.size() ? a.files.size() > b.files.size() : draw(a) < draw(b);
  });
  return groups;
}

Result<void> expect_groups(std::span<const LabelledFile> files, const SplitReport& report) {
  if (report.labels.size() < 2)
    return fail(Fault::usage,
                "expected two labels or more, found " + std::to_string(report.labels.size()) +
                    (report.labels.empty() ? std::string() : ": '" + report.labels[0] + "'"),
                "Put recordings of every class into a folder of its own");
  std::vector<std::string> few;
  for (std::size_t label = 0; label < report.labels.size(); ++label)
    if (report.groups[label] < 2)
      few.push_back("'" + report.labels[label] + "' has " + std::to_string(report.groups[label]) + " (" +
                    std::to_string(std::ranges::count(files, report.labels[label], &LabelledFile::label)) + " files)");
  if (few.empty()) return {};
  return fail(Fault::usage, "expected two groups of recordings or more of each label: " + joined(few, ", "),
              "One group is learned, another shows what was learned: add recordings, or name smaller groups (" +
                  field("group") + ")");
}

SplitReport report_of(std::span<const LabelledFile> files, const std::vector<std::string>& labels) {
  SplitReport report{.labels = labels};
  report.files.assign(labels.size(), std::vector<std::int64_t>(kParts));
  report.groups.assign(labels.size(), 0);
  std::map<std::pair<std::size_t, std::string>, bool> seen;
  for (const auto& file : files) {
    const auto label = label_index(labels, file.label);
    if (file.part != SetPart::none) ++report.files[label][index_of(file.part)];
    if (!std::exchange(seen[{label, file.group}], true)) ++report.groups[label];
  }
  return report;
}

}  // namespace

Result<SplitReport> split_files(std::span<LabelledFile> files, SplitShares shares, std::uint64_t seed) {
  const auto labels = labels_of(files);
  TRY(expect_groups(files, report_of(files, labels)));
  const auto draw = [&](const auto& counts, std::array<double, kParts> parts) {
    for (const auto& group : Drawing(groups_of(files, labels, seed, counts), labels.size(), parts).run())
      for (const auto file : group.files) files[file].part = part_at(group.part);
  };
  draw([](const LabelledFile& file) { return file.part == SetPart::none; },
       {shares.training, shares.validation, 1 - shares.training - shares.validation});
  const auto has = [&](SetPart part) {
    return std::ranges::any_of(files, [part](const LabelledFile& file) { return file.part == part; });
  };
  if (!has(SetPart::validation)) {
    const double known = shares.training + shares.validation;
    draw([](const LabelledFile& file) { return file.part == SetPart::training; },
         {shares.training / known, shares.validation / known, 0});
  }
  return report_of(files, labels);
}

}  // namespace tutti
