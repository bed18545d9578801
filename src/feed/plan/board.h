#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "feed/plan/planner.h"

namespace tutti {

/// Rows of the oldest batch that turned out bad, for the plan stage to replace.
struct Holes {
  std::int64_t batch = 0;
  std::vector<std::size_t> rows{};
};

/// What the plan stage and the batch stage know together.
struct PlanState {
  Planner planner;
  std::optional<Holes> holes{};
  bool is_stopped = false;
  std::chrono::nanoseconds waited{};            ///< by the plan stage, for batches to be done
  std::optional<Clock::Instant> waits_since{};  ///< it waits now; not in `waited` yet

  std::chrono::nanoseconds waited_until(Clock::Instant now) const {
    return waits_since ? waited + (now - *waits_since) : waited;
  }
};

using PlanBoard = Guarded<PlanState>;

}  // namespace tutti
