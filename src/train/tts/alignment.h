#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace tutti {

/// The best monotonic path through one clip: every symbol gets at least one frame, in order, and the scores on the path
/// add up to the most. `scores`: row-major [frames, stride] of which the first `symbols` columns count; `durations`
/// gets the frames of each symbol; `work` holds frames * symbols bytes and 2 * (symbols + 1) floats behind them
/// (alignment_bytes). Of equally good paths the one that stays longest with the later symbols is taken.
///
/// Needs symbols <= frames, both at least 1. Thread-safe.
void align_monotonically(std::span<const float> scores, std::int64_t stride, std::span<std::int32_t> durations,
                         std::int64_t frames, std::span<std::byte> work);

/// The memory that it works in, in bytes; of a smaller clip it is less, so that one block serves a whole batch.
std::size_t alignment_bytes(std::int64_t symbols, std::int64_t frames);

/// The same of a batch, on as many threads as torch computes with; a clip is one thread's, so that the result does not
/// depend on their number. `scores`: [rows, frames, symbols] float32 on the
/// CPU, contiguous; `symbol_counts` and `frame_counts`: [rows] int64 on the CPU, the true lengths -> [rows, symbols]
/// int64, zeros behind a row's last symbol.
at::Tensor aligned_durations(const at::Tensor& scores, const at::Tensor& symbol_counts, const at::Tensor& frame_counts);

/// Which symbol each frame belongs to, on the device of the durations, as a matrix of ones: durations [rows, symbols]
/// int64, frames [rows or 1, count] int64, counted from each row's first -> [rows, count, symbols] float32; zeros at
/// frames behind the last symbol's.
at::Tensor alignment_matrix(const at::Tensor& durations, const at::Tensor& frames);

}  // namespace tutti
