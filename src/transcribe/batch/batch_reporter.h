#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job_admin.h"
#include "jobs/publish.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_spaces.h"
#include "transcribe/batch/run_queue.h"

namespace tutti {

/// How an attempt ended well.
struct AttemptResult {
  JobEngine::Use use{};
  bool copied = false;                 // from a job with the same content
  std::vector<KeptFile> kept_files{};  // at the names of its outputs
};

/// Calls the observer of a batch, one call at a time and in order: no recording ends before its start is reported, none
/// begins while a user is prompted about a failure. Counts each end in one step with its report. Thread-safe.
class BatchReporter {
 public:
  BatchReporter(const BatchOptions& options, JobAdmin& admin, DevicePool& pool, BatchObserver& observer,
                BatchState& state, RunQueue& queue)
      : options_(options), admin_(admin), pool_(pool), observer_(observer), state_(state), queue_(queue) {}

  /// All that is to be done is known.
  void accepted();
  /// Waits while a user is prompted. False: the run is over by then.
  bool may_begin();
  /// Reports the recordings that have got their first device. Where another thread is reporting, as while a user is
  /// prompted, it does nothing: every other report begins with this.
  void started();
  void done(const BatchAttempt& attempt, AttemptResult result);
  /// It failed and will be tried again after `wait`.
  void retried(const BatchAttempt& attempt, const Error& error, const std::string& device, Seconds wait);
  /// It failed for good, unless the observer decides to try it again. `device`: where most of this attempt was done;
  /// empty: nothing of it was.
  void failed(const BatchAttempt& attempt, const Error& error, const std::string& device);

 private:
  using Lock = std::unique_lock<std::mutex>;

  void report_starts(const Lock& reporting);
  void report_starts_before_end(const Lock& reporting, JobId id);
  std::optional<BatchStart> start_of(FirstGrant first);
  BatchObserver::Action request_decision(const BatchEnd& over, const Error& error);
  BatchCounts counts() const;

  const BatchOptions& options_;
  JobAdmin& admin_;
  DevicePool& pool_;
  BatchObserver& observer_;
  BatchState& state_;
  RunQueue& queue_;
  std::mutex reporting_{};  // the observer is called under it; taken before the state's
};

}  // namespace tutti
