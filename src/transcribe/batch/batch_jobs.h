#pragma once

#include <map>
#include <string>

#include "jobs/lease_session.h"
#include "jobs/store.h"
#include "transcribe/batch/attempt_list.h"
#include "transcribe/batch/batch_job_source.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/batch/job_run.h"
#include "transcribe/batch/result_publisher.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/batch/run_queue.h"

namespace tutti {

/// The jobs of a batch on a store, and the folder that their transcripts go to: the source and the sink of its JobRun.
/// Owns the parts that do so. Thread-safe.
class BatchJobs final : public JobSupply {
 public:
  BatchJobs(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer);

  JobSource& source() override { return source_; }
  ResultSink& sink() override { return publisher_; }
  void serve(const ModelContext* model) override { source_.serve(model); }
  void stop_taking() override { queue_.stop_taking(); }
  void hold_back(bool hold) override { queue_.set_hold(RunHold::memory, hold); }
  /// Also ends every wait for full disks.
  void abort() override;
  RunSnapshot snapshot() const override;

  RunQueue& queue() { return queue_; }
  RunJobs& jobs() { return jobs_; }
  LeaseSession& leases() { return leases_; }
  BatchReporter& reporter() { return reporter_; }
  /// Where it writes; also for other writers to the store.
  DiskSpaceWait& output_space() { return spaces_.output; }
  /// Fault::missing: it is none of this run's, or has ended.
  Result<void> cancel(JobId job);
  /// Releases what was claimed ahead and has not been begun for a while. To be called a few times a second.
  void release_idle() { source_.release_idle(); }
  /// The run ends: releases what is still held, and tries once more to put in place what could not be.
  void release(const std::string& reason);

 private:
  JobAdmin& admin_;
  RunSpaces spaces_;
  const StoreTime began_;
  RunJobs jobs_{};
  RunQueue queue_;
  AttemptList attempts_;
  LeaseSession leases_;
  const RunParts parts_;
  BatchReporter reporter_;
  ResultPublisher publisher_;
  BatchJobSource source_;
};

}  // namespace tutti
