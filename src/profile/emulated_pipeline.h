#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "advise/pipeline_model.h"
#include "advise/pipeline_run.h"
#include "base/error.h"

namespace tutti {

struct EmulationOptions {
  MeasuredPart part{};                     ///< measured part of the run, which ends with it
  std::optional<std::size_t> sped_up{};    ///< an experiment: this stage works twice as fast, by virtual_clock.h
  std::map<std::size_t, double> slowed{};  ///< stage index -> factor on its items' times, behind the model's back
};

/// Runs `pipeline` on `flow`: real threads and queues, stages that sleep for the time that their item takes, and
/// emulated cores, so that there may be more of them than the machine has.
///
/// A source that never runs dry feeds the first stage. Where it may, the process lets the stages' threads go ahead of
/// other programs' (SCHED_RR), since they only sleep.
///
/// Sleeps are exact to `kMostLate`: an item ends when it should, not when the machine got round to waking its thread,
/// and the next one begins there. So a busy machine does not slow the pipeline down, unless it is later than that.
///
/// Waits until the run is over: `options.part.to` and a moment. Fault::exhausted where the system refuses a thread.
Result<PipelineRun> run_emulated(const PipelineModel& pipeline, const EmulationOptions& options);

/// What is later counts as the item's own time, so that it shows.
inline constexpr Seconds kMostLate{0.1};

}  // namespace tutti
