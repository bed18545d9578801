#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "jobs/job_admin.h"
#include "jobs/lease_session.h"
#include "transcribe/batch/run_queue.h"

namespace tutti {

/// How many jobs a run claims at once. `begun`: how many it has begun within the last second; `in_sight`: how many are
/// to follow. So what it claims is begun within about a second, and where jobs run out, other runners get theirs.
std::size_t claims_at_once(std::size_t begun, std::size_t in_sight);

/// Claims the jobs of a run: one by one where each takes its time, several in one transaction where devices are fast,
/// so that the store is not waited for with every job. A job keeps its turn; only its lease is there before. `take` is
/// one thread's, the rest thread-safe.
class ClaimAhead {
 public:
  ClaimAhead(LeaseSession& leases, JobAdmin& admin, const Clock& clock = Clock::real())
      : leases_(leases), admin_(admin), clock_(clock) {}

  struct Taken {
    std::optional<Lease> lease{};
    std::optional<Job> known{};  // without a lease: what the store has of it; none: that is not known
  };
  /// The lease of the step's job. None: it is not claimable.
  Result<Taken> take(const RunQueue::NextStep& step);

  /// Releases what was claimed some time ago and has not been begun: the run has become slower, or may begin nothing.
  void release_idle();
  /// Releases what has not been begun.
  void release_all();

 private:
  struct Held {
    Lease lease{};
    Clock::Instant since{};
  };

  std::optional<Lease> take_held(JobId job);
  Result<Taken> claim(const RunQueue::NextStep& step);
  void release(std::optional<Clock::Instant> older_than);

  LeaseSession& leases_;
  JobAdmin& admin_;
  const Clock& clock_;
  std::deque<Clock::Instant> begun_{};     // within the last second
  std::map<JobId, Job> elsewhere_{};       // that the latest claim has passed over
  Guarded<std::map<JobId, Held>> held_{};  // not begun
};

}  // namespace tutti
