#pragma once

#include <cstddef>
#include <vector>

#include "advise/change.h"
#include "advise/pipeline_model.h"

namespace tutti {

/// What the stages of a pipeline may have together.
struct TuningBudget {
  int threads = 1;        ///< at least one a stage
  std::size_t queue = 1;  ///< items that may wait, over all queues that something is behind; at least one a queue
};

/// The pipeline with the threads and queues that give the highest rate within `budget`: first as many threads as the
/// rate times the cost of an item needs, then thread by thread and item by item what a replay confirms. Threads that
/// gain nothing are left out. Pure.
PipelineModel tuned(PipelineModel pipeline, const TuningBudget& budget);

/// The settings of a pipeline: threads of every stage, then every queue that something is behind.
std::vector<Change> settings_of(const PipelineModel& pipeline);

}  // namespace tutti
