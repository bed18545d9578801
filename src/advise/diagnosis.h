#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/change.h"
#include "advise/pipeline_model.h"
#include "advise/replay.h"

namespace tutti {

/// The stage that limits a pipeline: the one that gains most when it works twice as fast.
struct Bottleneck {
  std::string stage;
  StageResource resource = StageResource::cpu;
  double share = 0;                    ///< share of the time that it costs: 1 - rate now / rate with it twice as fast
  std::optional<std::string> close{};  ///< a second stage that costs nearly as much
};

/// Changes made together, and the rate that they lead to.
struct Fix {
  std::vector<Change> changes{};
  double items_per_s = 0;
  double low = 0;   ///< a run of the given length measures a rate from here ...
  double high = 0;  ///< ... to here, in 19 of 20 cases
};

struct Diagnosis {
  double items_per_s = 0;  ///< as the pipeline is
  Bottleneck limit{};
  std::vector<Fix> fixes{};     ///< fixes of one change: threads, queues and cores by gain, then speed by gain
  std::vector<Fix> together{};  ///< fixes of two changes, where the second one gains as well
};

/// What gains less is not worth a change.
inline constexpr double kLeastGain = 0.02;

/// How the rate of a pipeline is found, and what may be changed. Functions are pure.
struct RateModel {
  std::function<ReplayResult(const PipelineModel&)> play{};
  std::function<double(const ReplayResult&)> rate{};
  std::function<Fix(const PipelineModel&)> predict{};  ///< with low and high; its changes are empty
  std::function<bool(const Change&)> may_set{};        ///< by stage and key; the value is not there yet
};

/// Finds what limits the pipeline and which changes that may be made would gain `kLeastGain` or more. Pure.
Diagnosis diagnose(const PipelineModel& pipeline, const RateModel& model);

/// Finds what limits the pipeline and which changes would gain `kLeastGain` or more, by replaying it with each. Pure.
/// `run`: how long the runs are whose rates `low` and `high` are about.
Diagnosis diagnose(const PipelineModel& pipeline, Seconds run);

/// The rate of a long run of the pipeline, and `low` and `high` of runs that are `run` long. Pure.
Fix predict(const PipelineModel& pipeline, Seconds run);

}  // namespace tutti
