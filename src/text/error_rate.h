#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// How a reference and a hypothesis lie against each other along a shortest path of edits.
struct EditCounts {
  std::int64_t hits = 0;
  std::int64_t substitutions = 0;
  std::int64_t insertions = 0;  // only in the hypothesis
  std::int64_t deletions = 0;   // only in the reference

  std::int64_t errors() const { return substitutions + insertions + deletions; }
  std::int64_t reference() const { return hits + substitutions + deletions; }
};

/// Least number of insertions, deletions and substitutions between two rows of symbols (any numbers; equal symbols are
/// equal numbers). Bit-parallel (Hyyrö 2003) in a band around the diagonal that grows with the errors: about
/// hypothesis * errors / 16 steps, memory linear in the reference.
std::int64_t edit_distance(std::span<const std::int32_t> reference, std::span<const std::int32_t> hypothesis);

/// The same with its parts. Where several shortest paths exist, the one is taken that rapidfuzz (and so jiwer) takes
/// for texts below some thousand words: equal ends are matched first; then from the end back a deletion where one is
/// possible, else a substitution before an insertion before a match. Half as many steps again as `edit_distance`;
/// memory reference * sqrt(hypothesis) / 2 bytes (100,000 against 100,000: 16 MB).
EditCounts edit_counts(std::span<const std::int32_t> reference, std::span<const std::int32_t> hypothesis);

/// Which symbols of two rows are the same along a shortest path of insertions, deletions and substitutions, of several
/// one with most of them: for every symbol of `reference` the position of its equal in `hypothesis`, none where it has
/// none there. Positions rise. Time reference * hypothesis, memory linear (Hirschberg 1975).
std::vector<std::optional<std::size_t>> matching_positions(std::span<const std::int32_t> reference,
                                                           std::span<const std::int32_t> hypothesis);

/// Errors of a set of hypotheses against their references, as jiwer 4.0 counts them.
struct ErrorRates {
  EditCounts words;             // sums over all pairs
  std::int64_t characters = 0;  // characters of the references
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
