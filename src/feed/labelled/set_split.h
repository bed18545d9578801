#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/labelled/labelled_files.h"

namespace tutti {

/// Shares of the files that go into the parts; what is left is for testing.
struct SplitShares {
  double training = 0.7;
  double validation = 0.2;
};

/// Files of labels in parts.
struct SplitReport {
  std::vector<std::string> labels{};               ///< sorted
  std::vector<std::vector<std::int64_t>> files{};  ///< [label][training, validation, testing]
  std::vector<std::int64_t> groups{};              ///< [label]: different groups that have files of it
};

/// Puts every file without a part into one, whole groups at a time, so that each label has about its shares in each
/// part, at least one group in training and validation, and one in testing where training keeps two. Follows from files
/// and seed. Files that have a part keep it; where those have none for validation, groups of the training part go
/// there.
///
/// Fault::usage, with counts, for fewer than two labels, or a label with fewer than two groups.
Result<SplitReport> split_files(std::span<LabelledFile> files, SplitShares shares, std::uint64_t seed);

}  // namespace tutti
