#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Dynamic time warping: the cheapest way through a cost matrix from its first cell to its last, by steps to the next
/// row, the next column, or both. Returns the column at which each row is first reached.
/// costs: [rows, columns] row-major, numbers; rows and columns at least 1. Among equally cheap ways it takes the one
/// that openai-whisper's dtw_cpu takes: diagonal and next row only where strictly cheapest, else next column; sums in
/// float32.
std::vector<std::int32_t> first_columns(std::span<const float> costs, std::size_t rows, std::size_t columns);

}  // namespace tutti
