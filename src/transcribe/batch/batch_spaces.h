#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "jobs/job.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_tally.h"
#include "transcribe/batch/disk_space_wait.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The two disks that a batch may have to wait for. `changed` is called when the wait for one has begun or ended.
struct BatchSpaces {
  BatchSpaces(const BatchOptions& options, const std::function<void()>& changed);
  /// Which full disk or folder is waited for, for people; empty: none.
  std::string held_up() const;
  /// No call waits any more.
  void close();

  DiskSpaceWait output;  // for results and the store; also for other writers to the store
  DiskSpaceWait spool;   // for decoded audio
};

/// A batch as it is at one moment.
struct RunSnapshot {
  BatchCounts counts{};
  BatchCounts before{};  // jobs of `counts` that had ended when the run began
  BatchDone done{};
  BatchProgress progress{};
  std::vector<AttemptStatus> in_work{};
  std::vector<JobFailure> failures{};  // for good, in this run; the latest first, at most a screenful
  std::string held_up{};               // BatchSpaces::held_up
};

/// What the parts of a running batch share: RunQueue, LeaseRenewer, BatchReporter, ResultPublisher and BatchJobSource.
/// All of it but `spaces` is under `mutex`. References to entries and attempts stay valid for as long as the run.
struct BatchState {
  using Lock = std::unique_lock<std::mutex>;

  explicit BatchState(BatchSpaces& its_spaces) : spaces(its_spaces) {}
  RunSnapshot snapshot() const;
  /// The entry of a job of this run. Under the lock.
  BatchEntry& entry(const BatchAttempt& attempt) { return entries.at(attempt.lease.key.job); }

  BatchSpaces& spaces;
  mutable std::mutex mutex{};
  std::condition_variable changed{};
  std::map<JobId, BatchEntry> entries{};
  std::deque<BatchAttempt> attempts{};
  std::set<std::size_t> in_flight{};  // attempts that have not settled
  BatchTally tally{};
  std::deque<JobFailure> failures{};
  std::optional<Clock::Instant> retry_kept_at{};  // when the publisher tries what it keeps again; none: it keeps none
  bool all_added = false;
};

}  // namespace tutti
