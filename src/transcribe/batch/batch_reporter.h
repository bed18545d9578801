#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "jobs/job_admin.h"
#include "jobs/lease_session.h"
#include "jobs/publish.h"
#include "transcribe/batch/attempt_list.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/batch/run_queue.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// What the source of a batch's jobs, the sink of its results and its reporter work on. Each part has a state of its
/// own and knows only those above it; none knows who works on it.
struct RunParts {
  const BatchOptions& options;
  const StoreTime began;  // the run, by the store's clock
  DevicePool& pool;
  RunSpaces& spaces;
  RunJobs& jobs;
  RunQueue& queue;
  AttemptList& attempts;
  LeaseSession& leases;

  /// So long until a job is looked at again that another process holds; the first time, that process may be going.
  static constexpr Seconds kCheckAgain{1}, kFirstCheck{0.3};
};

/// Calls the observer of a batch, one call at a time and in order: no recording ends before its start is reported, none
/// begins while a user is prompted about a failure. Counts each end in one step with its report. Thread-safe.
class BatchReporter {
 public:
  BatchReporter(const RunParts& parts, JobAdmin& admin, BatchObserver& observer)
      : parts_(parts), admin_(admin), observer_(observer) {}

  /// All that is to be done is known.
  void accepted();
  /// Waits while a user is prompted. False: the run is over by then.
  bool may_begin();
  /// Reports the recordings that have got their first device. Where another thread is reporting, as while a user is
  /// prompted, it does nothing: every other report begins with this.
  void started();
  /// Its outputs are in place; the rest is in its entry.
  void done(const BatchAttempt& attempt);
  /// It failed and will be tried again after `wait`.
  void retried(const BatchAttempt& attempt, const Error& error, const std::string& device, Seconds wait);
  /// It failed for good, unless the observer decides to try it again. `device`: where most of this attempt was done;
  /// empty: nothing of it was.
  void failed(const BatchAttempt& attempt, const Error& error, const std::string& device);

 private:
  void report_starts() TUTTI_REQUIRES(reporting_);
  void report_starts_before_end(JobId id) TUTTI_REQUIRES(reporting_);
  std::optional<BatchStart> start_of(FirstGrant first);
  BatchObserver::Action request_decision(const BatchEnd& over, const Error& error) TUTTI_REQUIRES(reporting_);

  const RunParts parts_;
  JobAdmin& admin_;
  Mutex reporting_;  // taken before those of the parts
  BatchObserver& observer_ TUTTI_GUARDED_BY(reporting_);
};

}  // namespace tutti
