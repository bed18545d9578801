#pragma once

#include <cstddef>
#include <limits>

namespace tutti {

inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// How much may wait between two stages; the tighter bound rules.
struct QueueLimits {
  std::size_t items = 64;          ///< at least 1; more smooths uneven stages and costs memory and latency
  std::size_t bytes = kUnlimited;  ///< sum over the waiting items, by the queue's size function
};

/// What waits in a queue at one moment.
struct QueueLevel {
  std::size_t items = 0;
  std::size_t bytes = 0;    ///< 0 for a queue without a size function
  std::size_t writers = 0;  ///< threads waiting for space; 0 once closed
  QueueLimits limits{};
};

}  // namespace tutti
