#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/error_rate/edit_distance.h"

namespace tutti {

/// Errors of a set of hypotheses against their references, as jiwer 4.0 counts them.
struct ErrorRates {
  EditCounts words;             // sums over all pairs
  std::int64_t characters = 0;  // of the references
  std::int64_t character_errors = 0;

  /// Errors per word of the references; without any word, the number of insertions.
  double wer() const;
  /// Errors per character (code points, spaces inside the text included); without any character, the errors.
  double cer() const;
};

/// Pairs `references[i]` with `hypotheses[i]` (UTF-8, compared as they are: normalise before). Fails when their numbers
/// differ. As in jiwer, a tab or line break between two words parts them only beside another white space.
Result<ErrorRates> error_rates(std::span<const std::string> references, std::span<const std::string> hypotheses);

/// The lines of a text file (UTF-8, a byte order mark and \r before \n are taken off), empty lines included. Fails on
/// a line that is not UTF-8.
Result<std::vector<std::string>> read_lines(const std::filesystem::path& path);

}  // namespace tutti
