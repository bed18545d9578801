#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "jobs/job_admin.h"
#include "jobs/job_queue.h"
#include "jobs/sweep.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// A run in the store's history, and where its jobs are entered.
struct StoredRun {
  JobQueue& queue;
  JobAdmin& admin;
  RunId id = 0;
};

/// Enters the jobs of a batch in the store and passes each to its run, as the store knows it. The arguments outlive the
/// submitter. One thread.
class BatchSubmitter {
 public:
  /// `stuck`: outputs of earlier runs that could not be put in place. `stopped`: the rest of the list is the next
  /// run's.
  BatchSubmitter(std::span<const BatchJob> list, const BatchOptions& options, const StoredRun& run, BatchJobs& jobs,
                 std::vector<SweepReport::Stuck> stuck, std::function<bool()> stopped)
      : list_(list),
        options_(options),
        run_(run),
        jobs_(jobs),
        stuck_(std::move(stuck)),
        stopped_(std::move(stopped)) {}

  /// The whole list, in portions: work begins with the first one, so that none takes long, also where the headers that
  /// give the lengths lie on a slow disk.
  Result<void> submit(const Clock& clock = Clock::real());

 private:
  /// Recordings that are reported to people once, at the end of the list.
  class DeferredWarning {
   public:
    void add(const std::string& which);
    /// "Recordings that WHAT: 3 (the first: ...). THEN"
    void report(const char* what, const std::string& then) const;

   private:
    std::size_t count_ = 0;
    std::string first_{};
  };
  std::vector<JobSpec> next_portion(std::size_t first, const Clock& clock) const;
  Result<void> submit(std::span<const BatchJob> portion, const std::vector<JobSpec>& specs);
  void leave_alone(const Submitted& answer, const JobSpec& spec);
  void overwrite(const Submitted& answer, const JobSpec& spec);
  std::string stuck_at(const Submitted& job) const;
  Result<void> reopen(std::vector<Submitted>& answers, JobState state);

  const std::span<const BatchJob> list_;
  const BatchOptions& options_;
  const StoredRun run_;
  BatchJobs& jobs_;
  const std::vector<SweepReport::Stuck> stuck_;
  const std::function<bool()> stopped_;
  std::ptrdiff_t renewed_ = 0;     // jobs that an earlier run knew otherwise
  DeferredWarning left_alone_{};   // that an earlier run has given up
  DeferredWarning overwritten_{};  // whose outputs are another recording's
};

}  // namespace tutti
