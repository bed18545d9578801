#pragma once

#include <cstdint>

#include "feed/options.h"
#include "feed/plan/planner.h"

namespace tutti {

/// Who decides which samples go together, as the options want it.
Planner planner_for(const FeedOptions& options);

/// T of a batch by what is expected of its samples: of the longest, rounded up, or the whole window.
std::int64_t frames_of_batch(const PlannedBatch& planned, const FeedOptions& options);

}  // namespace tutti
