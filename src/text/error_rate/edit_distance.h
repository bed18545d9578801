#pragma once

#include <cstdint>
#include <span>

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

}  // namespace tutti
