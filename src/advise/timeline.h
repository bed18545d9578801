#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/pipeline_run.h"

namespace tutti {

/// What a stage did over time, one value for each interval of a timeline.
struct StageTimeline {
  std::string name;
  std::vector<double> busy{};   ///< share of its threads' time, 0 to 1
  std::vector<double> queue{};  ///< how full the queue behind it was at the interval's end, 0 to 1
};

/// A run over time, in intervals that need not be equally long. Empty where none was kept.
struct RunTimeline {
  std::vector<double> at{};         ///< seconds since the start: the end of each interval
  std::vector<std::size_t> done{};  ///< items done by then
  std::vector<StageTimeline> stages{};
};

/// The timeline of a run of `pipeline` in equal intervals, from its start to the end of its measured part. Pure.
RunTimeline timeline_of(const PipelineModel& pipeline, const PipelineRun& run);

/// How full the queue behind the stage was on average; none where the timeline does not have the stage.
std::optional<double> mean_fill(const RunTimeline& timeline, std::string_view stage);

}  // namespace tutti
