#pragma once

#include <cstddef>
#include <map>

#include "advise/pipeline_model.h"
#include "advise/pipeline_run.h"
#include "base/error.h"

namespace tutti {

struct EmulationOptions {
  MeasuredPart part{};                     ///< of the run, which ends with it
  std::map<std::size_t, double> slowed{};  ///< stage index -> factor on its items' times, behind the model's back
};

/// Runs `pipeline` on `flow`: real threads and queues, stages that sleep for the time that their item takes, and
/// emulated cores, so that there may be more of them than the machine has.
///
/// Sleeps are exact to `kMostLate`: an item ends when it should, not when the machine got round to waking its thread,
/// and the next one begins there. So a busy machine does not slow the pipeline down, unless it is later than that.
Result<PipelineRun> run_emulated(const PipelineModel& pipeline, const EmulationOptions& options);

inline constexpr Seconds kMostLate{0.1};

}  // namespace tutti
