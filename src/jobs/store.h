#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "jobs/history.h"
#include "jobs/lease.h"
#include "jobs/job.h"

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

/// The durable record of all work: jobs, attempts, results, device speeds, history. Every call is one transaction that
/// is on disk when it returns; a process killed between two calls leaves a store that the next one goes on from. Any
/// number of threads and processes. Times are the store's own. Errors: Fault::full when the disk is full,
/// Fault::unavailable when it fails or another process holds the store, Fault::corrupt when the store is damaged,
/// Fault::internal otherwise; a failed call has changed nothing.
class JobStore {
 public:
  virtual ~JobStore() = default;

  virtual StoreTime now() const = 0;

  // ---- requesting work

  virtual Result<RunId> begin_run(const RunStart& start) = 0;
  virtual Result<void> end_run(RunId run, const RunEnd& end) = 0;

  /// Idempotent by JobSpec::key, in one transaction; answers in the order of `specs`. Submit portions of about a
  /// thousand, so that others get a turn.
  virtual Result<std::vector<Submitted>> submit(RunId run, std::span<const JobSpec> specs) = 0;
  /// Takes a better known length; a worse one (see LengthSource) is ignored.
  virtual Result<void> set_length(JobId job, Seconds audio, LengthSource source) = 0;

  // ---- doing it

  /// Claims a claimable job: queued, its time come, not waiting for a twin. None when there is no such job (or the
  /// requested one is not claimable). No two callers ever hold one job.
  virtual Result<std::optional<Lease>> claim(const ClaimRequest& request) = 0;
  /// In one transaction; answers in the order of `renewals`.
  virtual Result<std::vector<LeaseStanding>> renew(std::span<const Renewal> renewals) = 0;
  /// Records the SHA-256 of the input and finds its twins: another job with the same content and options.
  virtual Result<ContentCheck> content_known(const LeaseKey& key, const std::string& sha256) = 0;
  /// Records staged outputs as the job's result and the job as done; the outputs are then to be put in place
  /// (jobs/publish.h does both). False: the lease was lost.
  virtual Result<bool> complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) = 0;
  virtual Result<AfterFailure> fail(const LeaseKey& key, const Failure& failure) = 0;
  /// Back to the queue, with no failure counted: drain, stop, a lost card. False: the lease was lost.
  virtual Result<bool> release(const LeaseKey& key, const std::string& reason) = 0;
  /// The answer to LeaseStanding::cancel. False: the lease was lost.
  virtual Result<bool> cancelled(const LeaseKey& key) = 0;

  /// Takes back every lease that ran out or whose owner is gone; how many. Call at start and every ten seconds.
  virtual Result<std::size_t> reap() = 0;

  // ---- steering it; each returns how many jobs it changed

  /// Queued and held ones at once; running ones learn it when they renew.
  virtual Result<std::size_t> cancel(const JobFilter& filter) = 0;
  virtual Result<std::size_t> hold(const JobFilter& filter) = 0;
  virtual Result<std::size_t> resume(const JobFilter& filter) = 0;
  /// Dead and cancelled ones are queued again with no strikes (--retry-failed); they wait from now on.
  virtual Result<std::size_t> retry(const JobFilter& filter) = 0;
  /// Done ones are queued again, likewise: those whose outputs, once in place, are gone or hold something else; of
  /// those also where a user's file was kept instead of one; or all.
  enum class Redo { missing, missing_or_kept, all };
  virtual Result<std::size_t> redo(const JobFilter& filter, Redo which) = 0;
  Result<std::size_t> redo(const JobFilter& filter) { return redo(filter, Redo::missing); }

  // ---- looking at it

  virtual Result<JobCounts> counts(const JobFilter& filter) = 0;
  /// By id, those after `after`, at most `limit`.
  virtual Result<std::vector<Job>> jobs(const JobFilter& filter, JobId after, std::size_t limit) = 0;
  virtual Result<std::vector<Attempt>> attempts(JobId job) = 0;
  /// The outputs of a done job; none for others.
  virtual Result<std::vector<JobOutput>> outputs(JobId job) = 0;

  // ---- putting outputs in place (jobs/publish.h)

  /// Outputs of done jobs that are not known to be in place.
  struct Unpublished {
    JobId job = 0;
    std::vector<JobOutput> outputs{};
  };
  virtual Result<std::vector<Unpublished>> unpublished() = 0;
  virtual Result<void> mark_published(JobId job) = 0;
  /// All that this job has ever recorded as its outputs, whatever became of it: a file with other content is not the
  /// job's. What stores of earlier versions recorded is not known.
  virtual Result<std::vector<KnownContent>> written(JobId job) = 0;
  /// Records what is about to be written for a job, or, with 0, for none; `written` returns it from then on.
  virtual Result<void> record_written(JobId job, const KnownContent& content) = 0;
  /// Records the new `path` and `kept` of a done job's output, known by `staged`; before it is put there.
  virtual Result<void> move_output(JobId job, const JobOutput& output) = 0;
  /// What this store knows of the attempt that a temporary file belongs to: nothing, or whether it is still at work.
  enum class StagedBy { other, at_work, over };
  virtual Result<StagedBy> staged_by(const LeaseKey& key) = 0;

  // ---- history

  /// Replaces the current speed and keeps the old one as history.
  virtual Result<void> record_speed(const SpeedRecord& speed) = 0;
  /// The current speed of every key, those recorded last behind the others; with `all`, every record there is.
  virtual Result<std::vector<SpeedRecord>> speeds(bool all) = 0;
  virtual Result<void> record_event(const DeviceEvent& event) = 0;
  virtual Result<std::vector<DeviceEvent>> events(StoreTime since) = 0;
  /// Latest first.
  virtual Result<std::vector<RunRecord>> runs(std::size_t limit) = 0;
};

}  // namespace tutti
