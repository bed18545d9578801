#pragma once

#include <optional>

#include "base/error.h"
#include "flow/pipeline.h"
#include "profile/pipeline_tuner.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/events.h"
#include "transcribe/worker_stage.h"

namespace tutti {

/// Chooses threads while a batch runs: of the stages that make windows of recordings, and, where neither --threads nor
/// --max-per-gpu bounds what a device has in work, of the stage whose threads wait for the devices. It counts the
/// batch's files as its observer. One thread, but for `on_done`.
class BatchTuning final : public RunObserver {
 public:
  explicit BatchTuning(const JobRunOptions& options);

  void on_done(const FileOutcome& outcome, const Transcript& transcript) override;

  /// Gives the stages the threads of an earlier batch like it, and begins to look at the pipeline, which must be there
  /// until `stop`.
  Result<void> watch(Pipeline& pipeline);
  /// It has set threads, or an earlier batch has: the devices' speed decides no more.
  bool has_decided() const { return tuner_.knows() || !tuner_.history().changes.empty(); }
  /// The threads that it has set so far, and when.
  ThreadHistory history() const { return tuner_.history(); }
  std::optional<TuningResult> stop() { return tuner_.stop(); }

 private:
  int devices_;
  WorkerStage worker_{};
  PipelineTuner tuner_;
};

}  // namespace tutti
