#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/cause.h"
#include "advise/recording.h"
#include "base/error.h"
#include "flow/watched_run.h"
#include "profile/pipeline_tuner.h"

namespace tutti {

/// What is known of a stage beside its clocks.
struct StageFacts {
  std::string name;  ///< as in the pipeline
  StageResource resource = StageResource::cpu;
  int threads = 1;
  std::string threads_flag{};  ///< sets its threads: "--threads"; empty: none does
};

/// Runs a pipeline of `flow` and records every item of it. One thread, but for `measure`.
class PipelineRecorder final : public WatchedRun {
 public:
  /// `stages`: those whose items are measured, in their order.
  PipelineRecorder(std::string command, std::string unit, std::vector<StageFacts> stages);

  /// From now on the pipeline's open stages are tuned while it runs. They begin with `threads_of`.
  void tune(TuningPlan plan) { tuner_ = std::make_unique<PipelineTuner>(std::move(plan)); }
  /// As PipelineTuner::threads_of; the stage's recorded number of threads, too.
  int threads_of(const std::string& stage, int usual);

  /// As Pipeline::run. Whatever ends it, what was done until then is recorded.
  Result<void> run(Pipeline& pipeline) override;

  /// As conclude(RunRecording) (recorded_run.h), of the pipeline that ran; empty where none did, or no item was done.
  /// Tuning that changed something comes first.
  Result<std::string> conclude() const;

 private:
  std::vector<StageFacts> stages_;
  RunRecording recording_{};
  MachineEvidence machine_{};
  std::unique_ptr<PipelineTuner> tuner_{};  // none: threads stay
  std::optional<TuningResult> tuned_{};
};

}  // namespace tutti
