#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "advise/timeline.h"
#include "base/error.h"
#include "jobs/history.h"
#include "profile/recording_file.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/batch/batch_tuning.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/pool/pool_machine.h"
#include "transcribe/prefetch.h"
#include "transcribe/run_recording.h"
#include "transcribe/run_stages.h"
#include "transcribe/stop_signal.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The jobs of a run as it steers them: where they come from, and where their results go. Called by several threads.
class JobSupply {
 public:
  virtual ~JobSupply() = default;
  virtual JobSource& source() = 0;
  virtual ResultSink& sink() = 0;
  /// The model is there, or (null) none will be: JobSource::context waits for that.
  virtual void serve(const ModelContext* model) = 0;
  /// No job is begun any more.
  virtual void stop_taking() = 0;
  /// No job is begun beside those in work, as long as that holds: this machine is short of memory.
  virtual void hold_back(bool hold) = 0;
  /// What it reads or waits for ends soon.
  virtual void abort() = 0;
  virtual RunSnapshot snapshot() const = 0;
};

/// Jobs on all devices of a pool, wherever they come from and their results go: the pool, the machine beside it, the
/// pipeline and its threads, the run's status and its entry in the history. Thread-safe, but for begin, work and end,
/// which one thread calls in that order.
class JobRun {
 public:
  /// Starts the pool and returns without waiting for any worker. The references outlive the run.
  JobRun(const JobRunOptions& options, PoolPlan plan, RunHistory& history, StopSignal& stop);

  DevicePool& pool() { return *pool_; }
  /// Enters the run in the history.
  Result<RunId> begin();
  /// Until all jobs are done, or it is stopped or aborted. The error names why no device is left, or what else ended
  /// it. `jobs`: how many there may be.
  Result<void> work(JobSupply& supply, std::size_t jobs);
  /// Closes the run in the history; the supply has released its jobs by then.
  BatchReport end(const RunSnapshot& snapshot);

  /// Now; or with the devices as they were in that view of a moment ago.
  FleetStatus status(const RunSnapshot& snapshot, const PoolView* at);

 private:
  void watch(JobSupply& supply);
  void report(const RunSnapshot& snapshot);
  void follow_speeds(Pipeline& pipeline);
  Result<void> serve(JobSupply& supply);
  Result<void> run_pipeline(JobSupply& supply, Run& run);
  Result<void> record(const PipelineReport& begun, const PipelineReport& ended, RunTimeline timeline);

  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  const JobRunOptions& options_;
  RunHistory& history_;
  StopSignal& stop_;
  const double time_;
  PoolMachine machine_;
  bool held_back_ = false;        // for want of memory; the watching thread's
  int looks_ = 0;                 // likewise
  AudioThreads audio_threads_{};  // the following thread's
  std::optional<ModelContext> model_{};
  std::unique_ptr<DevicePool> pool_;
  RunId id_ = 0;
  BatchTuning tuning_;
  std::optional<TuningResult> tuned_{};
  /// It keeps what each recording took until the run's end: only where that is wanted.
  const std::optional<std::filesystem::path> recording_file_ = recording_wanted();
  const std::unique_ptr<RunRecorder> recorder_;
  RunSummary summary_{};
};

}  // namespace tutti
