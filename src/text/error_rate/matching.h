#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Which symbols of two rows are the same along a shortest path of insertions, deletions and substitutions, of several
/// one with most of them: for every symbol of `reference` the position of its equal in `hypothesis`, none where it has
/// none there. Positions rise. Time reference * hypothesis, memory linear (Hirschberg 1975).
std::vector<std::optional<std::size_t>> matching_positions(std::span<const std::int32_t> reference,
                                                           std::span<const std::int32_t> hypothesis);

}  // namespace tutti
