#include "jobs/postgres/rows.h"

#include <algorithm>

namespace tutti::postgres {

const std::string kJobColumns = job_columns("cancel_requested");

std::string months_of(std::span<const JobState> states) {
  if (std::ranges::all_of(states, is_final)) return "month <> 0";
  if (std::ranges::none_of(states, is_final)) return "month = 0";
  return "true";
}

FilterSql::FilterSql(const JobFilter& filter) : ids(numbers_of(filter.ids)) {
  condition = filter.batch.empty() ? "$1::text IS NOT NULL" : "batch = $1::text";
  condition += filter.run == 0 ? " AND $2::bigint = 0" : " AND run = $2::bigint";
  condition += filter.states.empty() ? " AND $3::text[] IS NOT NULL"
                                     : " AND state = ANY($3::text[]) AND " + months_of(filter.states);
  condition += filter.ids.empty() ? " AND $4::bigint[] IS NOT NULL" : " AND id = ANY($4::bigint[])";
  condition += filter.options.empty() ? " AND $5::text = ''" : " AND options = $5::text";
  std::vector<std::string> names;
  for (const JobState state : filter.states) names.emplace_back(name_of(state));
  states = texts_of(names);
}

void end_attempt(Transaction& transaction, JobId job, AttemptEnd end, std::string_view failure,
                 const std::string& error, const AttemptUse& use) {
  transaction.run(
      "UPDATE tutti_attempts SET ending = $2, failure = $3, error = $4, ended = $5, "
      "device = CASE WHEN $6::text = '' THEN device ELSE $6::text END, audio = $7, busy = $8 "
      "WHERE job = $1 AND ending = 'running'",
      job, name_of(end), failure, error, ms_of(transaction.time()), use.device, use.audio.count(), use.busy.count());
}

std::vector<JobOutput> outputs_of(Transaction& transaction, JobId job) {
  std::vector<JobOutput> outputs;
  transaction.rows(
      "SELECT path, staged, sha256, bytes, modified_ns, kept FROM tutti_results WHERE job = $1 ORDER BY number",
      [&](const Row& row) { outputs.push_back(output_in(row)); }, job);
  return outputs;
}

void drop_results(Transaction& transaction, JobId job) {
  transaction.run(
      "WITH dropped AS (DELETE FROM tutti_results WHERE job = $1 RETURNING job, sha256, bytes) "
      "INSERT INTO tutti_written(job, sha256, bytes) SELECT DISTINCT ON (sha256) job, sha256, bytes FROM dropped "
      "ON CONFLICT DO NOTHING",
      job);
}

std::optional<Job> held_job(Transaction& transaction, const LeaseKey& key) {
  std::optional<Job> found;
  transaction.rows(
      "SELECT " + kJobColumns +
          " FROM tutti_jobs_hot WHERE id = $1 AND lease_token = $2 AND state = 'running' FOR UPDATE",
      [&](const Row& row) { found = job_in(row); }, key.job, key.token);
  return found;
}

namespace {

JobId twin(Transaction& transaction, const std::string& where, JobId job, const std::string& sha256,
           const std::string& options) {
  JobId found = 0;
  if (sha256.empty()) return found;
  transaction.rows(
      "SELECT id FROM " + where +
          " AND sha256 = $1 AND sha256 <> '' AND options = $2 AND id <> $3 ORDER BY id LIMIT 1" +
          (where.starts_with("tutti_jobs_hot") ? " FOR SHARE" : ""),
      [&](const Row& row) { found = row.number(0); }, sha256, options, job);
  return found;
}

}  // namespace

JobId done_twin(Transaction& transaction, JobId job, const std::string& sha256, const std::string& options) {
  return twin(transaction, "tutti_jobs WHERE month <> 0 AND state = 'done'", job, sha256, options);
}

JobId running_twin(Transaction& transaction, JobId job, const std::string& sha256, const std::string& options) {
  return twin(transaction, "tutti_jobs_hot WHERE state = 'running'", job, sha256, options);
}

// Not for one that is queued again: its requester may be gone, and it may never be requested again.
void release_waiting(Transaction& transaction) {
  transaction.run(
      "UPDATE tutti_jobs_hot AS waiting SET waits_for = 0 WHERE waits_for <> 0 "
      "AND NOT EXISTS(SELECT 1 FROM tutti_jobs_hot AS twin WHERE twin.id = waiting.waits_for "
      "AND twin.sha256 = waiting.sha256 AND twin.state = 'running')");
}

}  // namespace tutti::postgres
