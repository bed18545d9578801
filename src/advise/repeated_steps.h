#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "advise/device_trace.h"

namespace tutti {

/// Steps of a run, all alike.
struct StepCount {
  std::size_t count = 0;
  Nanoseconds length = 0;  ///< of a step, the mean; 0: unknown
};

/// Finds steps in a sequence of names: a name behind which the same names come again each time, until it comes itself.
/// Of several such names it is the one of the longest steps. Needs bounded memory, whatever the sequence's length.
class RepeatedSteps {
 public:
  /// The next of the sequence: the hash of its name, and when it began.
  void add(std::uint64_t name, Nanoseconds start);

  /// None where nothing repeats for three times or more, four of five times in the same way; a step has three names or
  /// more.
  std::optional<StepCount> found() const;

 private:
  struct Seen {
    std::size_t count = 0, alike = 0;
    std::uint64_t before = 0;     // hash of the sequence before its last occurrence
    std::uint64_t last_step = 0;  // hash of what came between its last two
    std::size_t first_at = 0;
    Nanoseconds first = 0, last = 0;
  };

  std::unordered_map<std::uint64_t, Seen> names_{};
  std::uint64_t hash_ = 0;                       // of all names until now, each times its position's power
  std::uint64_t power_ = 1, inverse_power_ = 1;  // of the position that comes next
  std::size_t count_ = 0;
};

}  // namespace tutti
