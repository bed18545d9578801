#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/job.h"
#include "jobs/lease.h"
#include "jobs/postgres/transactions.h"
#include "jobs/store_rows.h"

namespace tutti::postgres {

/// The columns that `job_in` reads.
extern const std::string kJobColumns;

/// A filter as a condition on $1 to $5, which are its batch, run, states, ids and options, and casts that name each.
struct FilterSql {
  explicit FilterSql(const JobFilter& filter);
  std::string condition{};
  Array states{};
  Array ids{};
};
/// The partitions of jobs in these states, as a condition, so that no other is looked at.
std::string months_of(std::span<const JobState> states);

/// Ends the running attempt of a job whose lease is released or revoked.
void end_attempt(Transaction& transaction, JobId job, AttemptEnd end, std::string_view failure,
                 const std::string& error, const AttemptUse& use);
std::vector<JobOutput> outputs_of(Transaction& transaction, JobId job);
/// Removes the results of a job, and remembers what was in them.
void drop_results(Transaction& transaction, JobId job);
/// The job, if the lease is still this holder's; nothing else changes it until the transaction ends.
std::optional<Job> held_job(Transaction& transaction, const LeaseKey& key);
/// The first job in that state, not `job` itself, with this content and these options; 0: none.
JobId done_twin(Transaction& transaction, JobId job, const std::string& sha256, const std::string& options);
/// The same of those at work; it stays so until the transaction ends.
JobId running_twin(Transaction& transaction, JobId job, const std::string& sha256, const std::string& options);
/// Twins that wait for a job which is not worked on any more become claimable.
void release_waiting(Transaction& transaction);

}  // namespace tutti::postgres
