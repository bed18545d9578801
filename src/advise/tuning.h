#pragma once

#include <cstddef>
#include <vector>

#include "advise/change.h"
#include "advise/pipeline_model.h"

namespace tutti {

/// What the stages of a pipeline may have together. Less than one a stage, or a queue, is the caller's mistake: `tuned`
/// gives each at least one.
struct TuningBudget {
  int threads = 1;        ///< at least one a stage
  std::size_t queue = 1;  ///< items that may wait, over all queues that something is behind; at least one a queue
};

/// What `tuned_threads` may do.
struct ThreadBudget {
  int threads = 1;           ///< of all stages together; those that may not be set keep theirs whatever it is
  std::vector<bool> open{};  ///< by stage: whether its threads may be set
  std::vector<int> least{};  ///< by stage: threads that an open one keeps; empty: one each
  std::vector<int> most{};   ///< by stage: threads that an open one may have; empty: no bound of its own
  double least_gain = 0.01;  ///< share of the rate that a thread, or one that moves, must gain
};

/// The pipeline with the threads and queues that give the highest rate within `budget`. Pure.
///
/// First as many threads as the rate times the cost of an item needs, for the highest rate at which threads, cores and
/// devices suffice, and queues that are all alike. From there, as long as a replay gains 0.3 %, the best of: a thread
/// more, a thread moved from one stage to another, half a queue moved to another. Threads that gain nothing are left
/// out. The last stage's queue becomes 1, because nothing waits behind it.
///
/// Costs about a hundred replays of 2,048 items: some milliseconds a stage.
PipelineModel tuned(PipelineModel pipeline, const TuningBudget& budget);

/// The same for threads alone, of the stages that may be set: queues stay as they are. Pure.
PipelineModel tuned_threads(PipelineModel pipeline, const ThreadBudget& budget);

/// The settings of a pipeline: threads of every stage, then every queue that something is behind. In the pipeline's
/// order, so that two tunings can be compared.
std::vector<Change> settings_of(const PipelineModel& pipeline);

}  // namespace tutti
