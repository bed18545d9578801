#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What a batch may hold.
struct BatchRules {
  std::int64_t most_samples = 16;
  std::int64_t most_frames = 0;  ///< samples times the longest; 0: no limit. A single sample is always allowed
  bool by_length = true;         ///< false: in the order they came
};

/// Which waiting samples make the next batch, as indices into `frames` (mel frames of each, oldest first), in the order
/// they shall have. The oldest is always among them, so nothing waits for ever. The others are of like length, so many
/// that no other fits beside them: what is left of an epoch would else leave one by one. The batch is the one with the
/// least padding among those. Pure.
std::vector<std::size_t> choose_batch(std::span<const std::int32_t> frames, const BatchRules& rules);

/// The waiting sample that fits best beside others of up to `longest` frames: the longest not above it, else the
/// shortest. `frames` is not empty. Pure.
std::size_t choose_replacement(std::span<const std::int32_t> frames, std::int32_t longest);

}  // namespace tutti
