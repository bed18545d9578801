#pragma once

#include <vector>

#include "jobs/publish.h"
#include "jobs/store.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/batch/batch_spaces.h"
#include "transcribe/batch/attempt_list.h"

namespace tutti {

/// Puts what a batch has transcribed in place, once each, also on a disk that is full, or not to be written to, for a
/// while. Results that are recorded and cannot be placed yet are kept and tried again. Thread-safe.
class ResultPublisher {
 public:
  ResultPublisher(const BatchOptions& options, JobStore& store, BatchState& state, RunQueue& queue,
                  LeaseRenewer& leases, BatchReporter& reporter)
      : options_(options), store_(store), state_(state), queue_(queue), leases_(leases), reporter_(reporter) {}

  /// Where the outputs cannot be written now, it waits with them in memory. Where they are recorded and only their own
  /// disk has no space, it keeps them, where they outlast the run. Fault::cancelled: this thread has nothing more to do
  /// for the attempt. `copied`: the contents are another job's.
  Result<void> publish(BatchAttempt& attempt, const std::vector<OutputContent>& contents, const JobEngine::Use& use,
                       bool copied);
  /// Tries what is kept again. For one thread at a time: the one that claims jobs, which has nothing else to do
  /// meanwhile.
  void publish_kept() { publish_kept(false); }
  /// The run ends: tries once more to put in place what could not be, also what an earlier run left.
  void publish_all_left();

 private:
  using Lock = BatchState::Lock;

  void keep(KeptResult result);
  void publish_kept(bool last_time);
  void publish_left_staged();
  void leave_staged(const BatchAttempt& attempt, const Error& error, const JobEngine::Use& use, bool copied);

  const BatchOptions& options_;
  JobStore& store_;
  BatchState& state_;
  RunQueue& queue_;
  LeaseRenewer& leases_;
  BatchReporter& reporter_;
  std::vector<KeptResult> kept_{};  // under the state's lock
};

}  // namespace tutti
