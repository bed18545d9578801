#pragma once

#include <cstddef>
#include <vector>

#include "advise/pipeline_model.h"
#include "advise/replay.h"

namespace tutti {

/// What became of one item in one stage. All times are of the run's own clock, which begins with it; Seconds::max():
/// that had not happened when the run was stopped.
struct ItemSpan {
  std::size_t item = 0;
  Seconds taken = Seconds::max();      ///< out of the queue in front of the stage
  Seconds began = Seconds::max();      ///< with a core or the device, where the stage needs one
  Seconds ended = Seconds::max();      ///< the stage's work
  Seconds handed_on = Seconds::max();  ///< into the queue behind it; for the last stage as `ended`
};

/// The part of a run that is measured.
struct MeasuredPart {
  Seconds from{};
  Seconds to{};
  std::size_t first_item = 0;  ///< that the run begins with
};

/// A run of a pipeline. Plain data.
struct PipelineRun {
  MeasuredPart part{};
  std::vector<std::vector<ItemSpan>> stages{};  ///< each stage's items with times since the run's start, in any order
};

/// What a stage's items took in a run.
struct StageFigures {
  StageShares shares{};
  std::size_t items = 0;  ///< ended in the measured part
  Seconds mean{};         ///< from `began` to `ended`
  Seconds p95{};
};

struct RunFigures {
  double items_per_s = 0;
  std::vector<StageFigures> stages{};
};

/// The part to measure in a run of `pipeline`, which is `length` long: behind the time that the pipeline takes to fill,
/// and with items that are like all of them. By its replay the run has the rate of the long run there, to one per cent
/// where that can be had in twice the time. Pure.
MeasuredPart representative_part(const PipelineModel& pipeline, Seconds length);

/// The figures of a run of `pipeline` in its measured part. Pure.
RunFigures figures_of(const PipelineModel& pipeline, const PipelineRun& run);

/// How far `pipeline` is from explaining the run, as a share: the difference between the measured rate and that of a
/// replay of the same items over the same time; or that of a stage's measured times from its items', where it is
/// larger. Pure.
double model_error(const PipelineModel& pipeline, const PipelineRun& run);

/// A model with a larger error predicts nothing.
inline constexpr double kMostModelError = 0.05;

}  // namespace tutti
