#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advise/pipeline_run.h"
#include "base/error.h"
#include "base/units.h"
#include "profile/described_run.h"
#include "profile/experiment.h"

namespace tutti {

// What `tutti profile --pipeline` does with a described pipeline: changes it, runs it on emulated stages, predicts and
// tunes it. For tests of ourselves TUTTI_PROFILE_SLOWED=STAGE=FACTOR makes a stage slower than described, behind the
// model's back; then the description must not explain the run.

/// The pipeline with these changes, separated by commas. Fault::usage names the one that is none.
Result<PipelineModel> with_changes(PipelineModel pipeline, const std::string& changes);

/// Without a run: the figures of the long replay.
DescribedRun simulated_run(const PipelineModel& pipeline, Seconds length);

/// A real run; a second one where the description does not explain the first, because the machine may have been too
/// busy. Fault::usage where it was too short for any item of a stage. Blocks.
Result<DescribedRun> measured_run(const PipelineModel& pipeline, Seconds length);

/// One more run for each stage, in which it works twice as fast, beside what is predicted for that. Blocks.
Result<Experiments> run_experiments(const DescribedRun& run, Seconds length);

/// What may be given to the stages together; none: what the description has.
struct DescribedBudget {
  std::optional<std::int32_t> threads{};
  std::optional<std::int32_t> queue{};  ///< items of all queues
};

/// The threads and queues with the highest rate, and that rate, as one line of JSON without its end: of a replay, or of
/// a run, after which it is solved once more where the stages were not as described. Fault::usage for too small a
/// budget.
Result<std::string> tuned_settings_json(const PipelineModel& pipeline, Seconds length, const DescribedBudget& budget,
                                        bool simulate);

}  // namespace tutti
