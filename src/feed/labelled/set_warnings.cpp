#include <cstddef>

#include "base/strings.h"
#include "feed/labelled/set_builder.h"

namespace tutti {
namespace {

/// The labels without a file in that part of the split.
std::vector<std::string> labels_without(const SplitReport& split, std::size_t part) {
  std::vector<std::string> names;
  for (std::size_t label = 0; label < split.labels.size(); ++label)
    if (split.files[label][part] == 0) names.push_back(split.labels[label]);
  return names;
}

}  // namespace

std::vector<std::string> warnings_of(const SetBuildReport& report) {
  constexpr std::size_t kTraining = 0, kValidation = 1, kTesting = 2;
  const auto& split = report.split;
  std::vector<std::string> warnings;
  for (const auto& folder : report.unread)
    warnings.push_back("left out: the folder " + without_controls(folder) +
                       " is no part of the set by its name. Parts are called train, validation and test");
  for (const auto& sentence : report.merged_labels) warnings.push_back("labels: " + without_controls(sentence));
  const auto these = [](const std::vector<std::string>& names) {
    return std::string(names.size() == 1 ? "that label" : "these labels");
  };
  if (const auto names = labels_without(split, kTesting); !names.empty())
    warnings.push_back(
        "no file is left for a test of " + (names.size() == split.labels.size() ? "any label" : joined(names, ", ")) +
        ": 'tutti evaluate' does not measure " + these(names) + ". Four groups or more of a label have one for it");
  if (const auto names = labels_without(split, kValidation); !names.empty())
    warnings.push_back("no file of " + joined(names, ", ") +
                       " is in the part for validation: the best network is chosen without " + these(names));
  if (const auto names = labels_without(split, kTraining); !names.empty())
    warnings.push_back("no file is there to learn " + joined(names, ", ") + " from: no recording will be given " +
                       these(names) + ", whatever the accuracy. Put files of it into the part for training");
  return warnings;
}

}  // namespace tutti
