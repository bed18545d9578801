#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/lease.h"
#include "jobs/sqlite/database.h"
#include "jobs/store_rows.h"

namespace tutti {

/// The columns that `job_in` reads.
extern const std::string kJobColumns;

/// A filter as a condition and the two lists it takes, as JSON: `"... WHERE " + condition`, then ?1 to ?5 are batch,
/// run, states, ids and options.
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
std::optional<Job> job_with_id(Database& database, JobId id);
/// Removes the ended jobs that a filter selects, with all that is recorded of them; how many.
std::size_t forget_jobs(Database& database, const JobFilter& filter);
/// The first job in that state, not `job` itself, with this content and these options; 0: none.
JobId twin_of(Database& database, JobId job, const std::string& sha256, const std::string& options, JobState state);
/// Twins that wait for a job which is not worked on any more become claimable.
void release_waiting(Database& database);

}  // namespace tutti
