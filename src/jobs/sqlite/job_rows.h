#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/lease.h"
#include "jobs/sqlite/database.h"

namespace tutti {

/// The columns that `job_in` reads, in its order, for SELECT and RETURNING.
extern const char* const kJobColumns;
Job job_in(const ResultRow& row);

/// So much waiting counts as one priority.
inline constexpr std::int64_t kAgeingMs = 600'000;

/// When, of two jobs of a class, the one waits as urgently as the other, in ms: the static form of priority plus one
/// for every period of waiting. Whole periods, as balance/queue_rank.h has them: what was requested within one is a
/// tie, which deadline and size decide. A list of a hundred thousand, requested in portions, is one queue so (two,
/// where a period ends meanwhile).
std::int64_t aged_from(StoreTime submitted, int priority);

/// A job's rank among those that wait as urgently; the smallest goes first, then the first requested.
struct ClaimOrder {
  std::int64_t due = 0;
  double size = 0;
};
/// Earliest deadline, then shortest, for interactive jobs; longest first for a batch's; normal ones are all alike. An
/// unknown length counts as forty minutes.
ClaimOrder claim_order(const JobSpec& spec);

/// Moments as the database keeps them.
inline std::int64_t ms_of(StoreTime time) {
  return time.time_since_epoch().count();
}
inline StoreTime time_of(std::int64_t ms) {
  return StoreTime(std::chrono::milliseconds(ms));
}

/// A filter as a condition and the two lists it takes, as JSON: `"... WHERE " + condition`, then ?1 to ?4 are batch,
/// run, states and ids.
struct FilterSql {
  std::string condition{};
  std::string states{};
  std::string ids{};
};
FilterSql sql_of(const JobFilter& filter);

std::vector<JobOutput> outputs_of(Database& database, JobId job);
/// Removes the results of a job, and remembers what was in them.
void drop_results(Database& database, JobId job);
std::optional<Job> job_with_key(Database& database, const std::string& key);
/// Removes the ended jobs that a filter selects, with all that is recorded of them; how many.
std::size_t forget_jobs(Database& database, const JobFilter& filter);
/// A done job, not `job` itself, with this content and these options, and its outputs; 0: none.
JobId done_twin(Database& database, JobId job, const std::string& sha256, const std::string& options);

/// Twins that wait for a job which is not worked on any more become claimable.
void release_waiting(Database& database);

}  // namespace tutti
