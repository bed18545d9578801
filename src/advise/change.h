#pragma once

#include <string>
#include <string_view>

#include "advise/pipeline_model.h"
#include "base/error.h"

namespace tutti {

/// One assignment to a setting of a pipeline: "decode.threads=4", "decode.queue=16", "decode.speed=2" or "cores=8".
struct Change {
  std::string stage{};  ///< empty: of the pipeline itself
  std::string key;      ///< threads, queue, speed or cores
  double value = 0;     ///< all but `speed`: a whole number

  /// As it is typed.
  std::string text() const;
  bool operator==(const Change&) const = default;
};

/// Threads of a stage, items of a queue and cores that a change or a pipeline file may have at most.
inline constexpr double kMostThreads = 1024;
inline constexpr double kMostQueue = 1e6;

/// The change with which the stage works twice as fast as it does.
Change twice_as_fast(const StageModel& stage);

/// Fault::usage where `text` is no assignment, or names a stage or setting that `pipeline` does not have: with the
/// nearest one that it has.
Result<Change> parse_change(std::string_view text, const PipelineModel& pipeline);

/// The pipeline with the change made, threads also in the stages that the same flag sets; everything else, the items'
/// times too, stays. `change` names a stage of it, or none. Throws std::out_of_range for another stage.
PipelineModel changed(PipelineModel pipeline, const Change& change);

}  // namespace tutti
