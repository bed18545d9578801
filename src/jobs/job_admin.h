#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/job.h"

namespace tutti {

/// How many jobs of a class are in a state.
struct ClassCount {
  JobClass job_class{};
  JobState state{};
  std::int64_t jobs = 0;
};

/// How many jobs ended within one minute.
struct EndedJobs {
  StoreTime minute{};  ///< when it begins
  std::int64_t done = 0;
  std::int64_t failed = 0;  ///< for good
};

/// The part of a store (jobs/store.h) that steers jobs and looks at them, in work or not.
class JobAdmin {
 public:
  virtual ~JobAdmin() = default;

  // ---- steering; each returns how many jobs it changed

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

  /// Removes ended ones and all that is recorded of them, their attempts included; their files are the caller's.
  virtual Result<std::size_t> forget(const JobFilter& filter) = 0;

  // ---- looking

  virtual Result<JobCounts> counts(const JobFilter& filter) = 0;
  /// By id, those after `after`, at most `limit`.
  virtual Result<std::vector<Job>> jobs(const JobFilter& filter, JobId after, std::size_t limit) = 0;
  /// The latest first: by falling id, those before `before` (0: all), at most `limit`. With `name` only those whose
  /// name has that in it, in upper or lower case (ASCII).
  virtual Result<std::vector<Job>> latest_jobs(const JobFilter& filter, const std::string& name, JobId before,
                                               std::size_t limit) = 0;
  /// Of the jobs that have not ended.
  virtual Result<std::vector<ClassCount>> open_by_class() = 0;
  /// Of the jobs that are done or dead and ended since then, by minutes in any order. Looks at every attempt.
  virtual Result<std::vector<EndedJobs>> ended_since(StoreTime since) = 0;
  virtual Result<std::vector<Attempt>> attempts(JobId job) = 0;
  /// By its JobSpec::key; none: no job has it.
  virtual Result<std::optional<Job>> find(const std::string& key) = 0;
  /// The batches that have queued jobs and begin with `prefix`, which is not empty, in alphabetical order. Costs a look
  /// per batch, however many jobs there are.
  virtual Result<std::vector<std::string>> waiting_batches(std::string prefix) = 0;
};

}  // namespace tutti
