#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/units.h"

namespace tutti {

/// What the threads of one phase of a run did, all together: a stage of a pipeline, the thread of a ring, the steps of
/// a training. Plain data.
struct PhaseTimes {
  std::string name{};
  Seconds busy{};
  Seconds waiting{};        ///< for something to do
  Seconds blocked{};        ///< with something done, for space behind it or for its turn
  std::uint64_t count = 0;  ///< items that came in

  /// How long the threads lived.
  Seconds all() const { return busy + waiting + blocked; }
  /// The share of their time, 0 to 1; 0 where there is none.
  double share(Seconds part) const { return all() > Seconds(0) ? std::clamp(part / all(), 0.0, 1.0) : 0; }
  /// Since an earlier reading of the same clocks. What is corrected from outside may go back by the time between two
  /// readings, and then counts as nothing.
  PhaseTimes since(const PhaseTimes& before) const {
    const auto passed = [](Seconds now, Seconds then) { return std::max(now - then, Seconds(0)); };
    return {.name = name,
            .busy = passed(busy, before.busy),
            .waiting = passed(waiting, before.waiting),
            .blocked = passed(blocked, before.blocked),
            .count = count - std::min(count, before.count)};
  }
};

}  // namespace tutti
