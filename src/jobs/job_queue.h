#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/try.h"
#include "jobs/job.h"
#include "jobs/lease.h"

namespace tutti {

/// What became of a submission.
struct Submitted {
  enum class What { added, kept, renewed };  // renewed: the input or the options changed, and it is queued again
  JobId id = 0;
  What what = What::added;
  JobState state = JobState::queued;
  StoreTime submitted{};  // Job::submitted: it has waited since then, also where an earlier run requested it
  std::string was{};      // renewed: the file whose result it had, where that was another one
};

/// The part of a store (jobs/store.h) through which jobs are submitted, claimed and ended. Any number of threads and
/// processes.
class JobQueue {
 public:
  virtual ~JobQueue() = default;

  /// By the store's own clock.
  virtual StoreTime now() const = 0;

  // ---- requesting work

  /// Idempotent by JobSpec::key, in one transaction; answers in the order of `specs`. Submit portions of about a
  /// thousand, so that others get a turn.
  virtual Result<std::vector<Submitted>> submit(RunId run, std::span<const JobSpec> specs) = 0;
  // ---- doing it

  /// Claims claimable jobs: queued, their time come, not waiting for a twin. The first ones in the order of the
  /// request, at most `most`, each with a token of its own, in one transaction; empty when there are none. No two
  /// callers ever hold one job. Of several, those that another transaction is changing are passed over.
  virtual Result<std::vector<Lease>> claim(const ClaimRequest& request, std::size_t most) = 0;
  /// The first one.
  Result<std::optional<Lease>> claim(const ClaimRequest& request) {
    auto leases = TRY(claim(request, 1));
    return leases.empty() ? std::nullopt : std::optional(std::move(leases.front()));
  }
  /// In one transaction; answers in the order of `renewals`.
  virtual Result<std::vector<LeaseStanding>> renew(std::span<const Renewal> renewals) = 0;
  /// Takes a better known length; a worse one (see LengthSource), or that of a lost lease, is ignored.
  virtual Result<void> set_length(const LeaseKey& key, Seconds audio, LengthSource source) = 0;
  /// Records the SHA-256 of the input and finds its twins: another job with the same content and options.
  virtual Result<ContentCheck> content_known(const LeaseKey& key, const std::string& sha256) = 0;
  /// Records staged outputs as the job's result and the job as done; the outputs are then to be put in place
  /// (jobs/publish.h does both). False: the lease was lost, or the job was to be cancelled, which it is now.
  virtual Result<bool> complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) = 0;
  virtual Result<AfterFailure> fail(const LeaseKey& key, const Failure& failure) = 0;
  /// Back to the queue, with no failure counted: drain, stop, a lost GPU. False: the lease was lost.
  virtual Result<bool> release(const LeaseKey& key, const std::string& reason) = 0;
  /// As `release`, of a job that was not begun: the claim is no attempt at it.
  virtual Result<bool> undo_claim(const LeaseKey& key) = 0;
  /// The answer to LeaseStanding::cancel. False: the lease was lost.
  virtual Result<bool> cancelled(const LeaseKey& key) = 0;

  /// Takes back every lease that ran out or whose owner is gone; how many. Call at start and every ten seconds.
  virtual Result<std::size_t> reap() = 0;
};

}  // namespace tutti
