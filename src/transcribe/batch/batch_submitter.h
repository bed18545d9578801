#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "jobs/store.h"
#include "jobs/sweep.h"
#include "transcribe/batch/batch_job_source.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// Enters the jobs of a batch in the store and passes each to its files, as the store knows it. The arguments outlive
/// the submitter. Only one thread may call it, but any thread may call `run` once `begin` has returned.
class BatchSubmitter {
 public:
  /// `stuck`: outputs of earlier runs that could not be put in place. `stopped`: the rest of the list is the next
  /// run's.
  BatchSubmitter(std::span<const BatchJob> jobs, const BatchOptions& options, JobStore& store, BatchJobSource& files,
                 std::vector<SweepReport::Stuck> stuck, std::function<bool()> stopped)
      : jobs_(jobs),
        options_(options),
        store_(store),
        files_(files),
        stuck_(std::move(stuck)),
        stopped_(std::move(stopped)) {}

  /// The run in the store's history.
  Result<RunId> begin();
  RunId run() const { return run_; }

  /// The whole list, in portions: work begins with the first one, so that none takes long, also where the headers that
  /// give the lengths lie on a slow disk.
  Result<void> submit(const Clock& clock = Clock::real());

 private:
  /// Recordings that are reported to people once, at the end of the list.
  class DeferredWarning {
   public:
    void add(const std::string& which);
    /// "Recordings that WHAT: 3 (the first: ...). THEN"
    void report(const char* what, const char* then) const;

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

  const std::span<const BatchJob> jobs_;
  const BatchOptions& options_;
  JobStore& store_;
  BatchJobSource& files_;
  const std::vector<SweepReport::Stuck> stuck_;
  const std::function<bool()> stopped_;
  RunId run_ = 0;
  std::ptrdiff_t renewed_ = 0;     // jobs that an earlier run knew otherwise
  DeferredWarning left_alone_{};   // that an earlier run has given up
  DeferredWarning overwritten_{};  // whose outputs are another recording's
};

}  // namespace tutti
