#pragma once

#include <optional>
#include <string>

#include "jobs/store.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_spaces.h"
#include "transcribe/batch/run_queue.h"

namespace tutti {

/// The attempts of a batch and their leases: claims jobs beside other processes that may want them as well, renews,
/// settles and releases. Thread-safe.
class LeaseRenewer {
 public:
  static constexpr Seconds kCheckAgain{1};    // a job that another process holds
  static constexpr Seconds kFirstCheck{0.3};  // the first time: that process may be going

  LeaseRenewer(JobStore& store, BatchState& state, RunQueue& queue) : store_(store), state_(state), queue_(queue) {}

  /// None: another process has it, or had it; the queue knows what becomes of it.
  std::optional<Lease> claim(JobId id);
  /// Begins an attempt; its index.
  std::size_t begin(JobId id, Lease lease);
  /// The attempt with that index; the reference stays valid.
  BatchAttempt& at(std::size_t index);

  /// The attempt is over; another one may be in flight now. False: another thread or process has settled it, and
  /// decides what becomes of its job.
  bool settle(BatchAttempt& attempt);
  /// The job is released, with a reason for the store.
  void release(const LeaseKey& key, const std::string& reason);
  /// Releases what is still held, and closes every attempt: the run ends.
  void release_all(const std::string& reason);

  /// Renews the leases of all attempts; those that are lost or to be cancelled end.
  void renew();
  /// Takes back the leases of others that have ended or hang; our own are renewed before.
  void reap();
  /// Fault::missing: it is none of this run's, or has ended.
  Result<void> cancel(JobId id);

 private:
  using Lock = BatchState::Lock;

  bool settle(const Lock& held, BatchAttempt& attempt);
  bool revoke(BatchAttempt& attempt);
  bool is_cancelled(const LeaseKey& key);
  std::size_t free_worker(const Lock& held) const;
  void not_claimable(JobId id);
  bool is_first_look(JobId id);
  bool is_superseded(JobId id, const JobSpec& stored) const;
  void superseded(JobId id);

  JobStore& store_;
  BatchState& state_;
  RunQueue& queue_;
};

}  // namespace tutti
