#include <array>
#include <map>

#include "base/try.h"
#include "jobs/job_rules.h"
#include "jobs/postgres/postgres_store.h"
#include "jobs/postgres/rows.h"
#include "jobs/publish.h"

namespace tutti {

using namespace postgres;

// ---- steering

namespace {

/// One UPDATE over what a filter selects; how many rows it changed.
std::size_t update(Transaction& transaction, const JobFilter& filter, const std::string& set,
                   std::span<const JobState> from) {
  const FilterSql sql(filter);
  return static_cast<std::size_t>(transaction.run("UPDATE tutti_jobs SET " + set + " WHERE state IN (" +
                                                      sql_list(from) + ") AND " + months_of(from) + " AND " +
                                                      sql.condition,
                                                  filter.batch, filter.run, sql.states, sql.ids, filter.options));
}

std::size_t requeue(Transaction& transaction, const JobFilter& filter, std::span<const JobState> from) {
  return update(transaction, filter, "month = 0, " + requeue_columns(transaction.time(), "cancel_requested"), from);
}

}  // namespace

Result<std::size_t> PostgresStore::cancel(const JobFilter& filter) {
  return transactions_.change([&](Transaction& transaction) {
    const std::string ended = "month = " + std::to_string(ending_month(transaction)) + ", ";
    const std::size_t changed =
        update(transaction, filter, ended + "state = 'cancelled', waits_for = 0", kCancellable) +
        update(transaction, filter, "cancel_requested = true", std::array{JobState::running});
    release_waiting(transaction);
    return changed;
  });
}

Result<std::size_t> PostgresStore::hold(const JobFilter& filter) {
  return transactions_.change([&](Transaction& transaction) {
    const std::size_t changed = update(transaction, filter, "state = 'held', waits_for = 0", kHoldable);
    release_waiting(transaction);
    return changed;
  });
}

Result<std::size_t> PostgresStore::resume(const JobFilter& filter) {
  return transactions_.change(
      [&](Transaction& transaction) { return update(transaction, filter, "state = 'queued'", kResumable); });
}

Result<std::size_t> PostgresStore::retry(const JobFilter& filter) {
  return transactions_.change([&](Transaction& transaction) { return requeue(transaction, filter, kRetriable); });
}

Result<std::size_t> PostgresStore::forget(const JobFilter& filter) {
  return transactions_.change([&](Transaction& transaction) {
    const FilterSql sql(filter);
    std::vector<std::int64_t> ended;
    transaction.rows(
        "DELETE FROM tutti_jobs WHERE state IN (" + sql_list(kForgettable) + ") AND month <> 0 AND " + sql.condition +
            " RETURNING id",
        [&](const Row& row) { ended.push_back(row.number(0)); }, filter.batch, filter.run, sql.states, sql.ids,
        filter.options);
    for (const char* table : {"attempts", "results", "written"})
      transaction.run("DELETE FROM tutti_" + std::string(table) + " WHERE job = ANY($1::bigint[])", numbers_of(ended));
    return ended.size();
  });
}

Result<std::size_t> PostgresStore::redo(const JobFilter& filter, Redo which) {
  if (which == Redo::all)
    return transactions_.change([&](Transaction& transaction) { return requeue(transaction, filter, kRedoable); });
  const auto done = transactions_.look([&](Transaction& transaction) {
    std::vector<DoneJob> found;
    const FilterSql sql(filter);
    // What is not in place yet, another process may be about to put there.
    transaction.rows(
        "SELECT job, path, staged, results.sha256, results.bytes, results.modified_ns, kept "
        "FROM (SELECT id FROM tutti_jobs WHERE month <> 0 AND state = 'done' AND published AND " +
            sql.condition + ") AS done LEFT JOIN tutti_results AS results ON job = id ORDER BY id, number",
        [&](const Row& row) {
          if (!row.has(0)) return;  // it had no outputs
          if (found.empty() || found.back().job != row.number(0)) found.push_back({row.number(0), {}});
          found.back().outputs.push_back(output_in(row, 1));
        },
        filter.batch, filter.run, sql.states, sql.ids, filter.options);
    return found;
  });
  TRY(done);
  const JobFilter missing{.ids = jobs_with_missing_outputs(*done, which, objects())};
  if (missing.ids.empty()) return 0;
  return redo(missing, Redo::all);
}

// ---- looking

Result<JobCounts> PostgresStore::counts(const JobFilter& filter) {
  return transactions_.look([&](Transaction& transaction) {
    JobCounts counts;
    const FilterSql sql(filter);
    transaction.rows(
        "SELECT state, count(*) FROM tutti_jobs WHERE " + sql.condition + " GROUP BY state",
        [&](const Row& row) { count_of(counts, row.text(0)) = row.number(1); }, filter.batch, filter.run, sql.states,
        sql.ids, filter.options);
    return counts;
  });
}

Result<std::vector<Job>> PostgresStore::jobs(const JobFilter& filter, JobId after, std::size_t limit) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<Job> found;
    const FilterSql sql(filter);
    transaction.rows(
        "SELECT " + kJobColumns + " FROM tutti_jobs WHERE id > $6 AND " + sql.condition + " ORDER BY id LIMIT $7",
        [&](const Row& row) { found.push_back(job_in(row)); }, filter.batch, filter.run, sql.states, sql.ids,
        filter.options, after, static_cast<std::int64_t>(limit));
    return found;
  });
}

Result<std::vector<Job>> PostgresStore::latest_jobs(const JobFilter& filter, const std::string& name, JobId before,
                                                    std::size_t limit) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<Job> found;
    const FilterSql sql(filter);
    transaction.rows(
        "SELECT " + std::string(kJobColumns) +
            " FROM tutti_jobs WHERE ($6::bigint = 0 OR id < $6::bigint) AND ($8::text = '' OR "
            "strpos(lower(name), lower($8::text)) > 0) AND " +
            sql.condition + " ORDER BY id DESC LIMIT $7",
        [&](const Row& row) { found.push_back(job_in(row)); }, filter.batch, filter.run, sql.states, sql.ids,
        filter.options, before, static_cast<std::int64_t>(limit), name);
    return found;
  });
}

Result<std::vector<ClassCount>> PostgresStore::open_by_class() {
  constexpr std::array kOpen{JobState::queued, JobState::running, JobState::held};
  return transactions_.look([&](Transaction& transaction) {
    std::vector<ClassCount> found;
    transaction.rows("SELECT class, state, count(*) FROM tutti_jobs WHERE state IN (" + sql_list(kOpen) + ") AND " +
                         months_of(kOpen) + " GROUP BY class, state",
                     [&](const Row& row) { found.push_back(class_count_in(row)); });
    return found;
  });
}

Result<std::vector<EndedJobs>> PostgresStore::ended_since(StoreTime since) {
  return transactions_.look([&](Transaction& transaction) {
    std::map<std::int64_t, EndedJobs> found;
    transaction.rows(
        "SELECT a.ended / 60000, j.state, count(*) FROM tutti_attempts a JOIN tutti_jobs j ON j.id = a.job AND "
        "j.attempts = a.number "
        "WHERE a.ended >= $1 AND j.state IN ('done', 'dead') GROUP BY a.ended / 60000, j.state",
        [&](const Row& row) { add_ended(found, row); }, ms_of(since));
    std::vector<EndedJobs> minutes;
    for (const auto& [minute, ended] : found) minutes.push_back(ended);
    return minutes;
  });
}

Result<std::vector<Attempt>> PostgresStore::attempts(JobId job) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<Attempt> found;
    transaction.rows(
        "SELECT job, number, device, owner, started, ended, ending, failure, error, busy FROM tutti_attempts "
        "WHERE job = $1 ORDER BY number",
        [&](const Row& row) { found.push_back(attempt_in(row)); }, job);
    return found;
  });
}

Result<std::optional<Job>> PostgresStore::find(const std::string& key) {
  return transactions_.look([&](Transaction& transaction) {
    std::optional<Job> found;
    transaction.rows(
        "SELECT " + kJobColumns + " FROM tutti_jobs WHERE key = $1", [&](const Row& row) { found = job_in(row); }, key);
    return found;
  });
}

Result<std::vector<std::string>> PostgresStore::waiting_batches(std::string prefix) {
  std::string end = prefix;
  ++end.back();
  return transactions_.look([&](Transaction& transaction) {
    std::vector<std::string> found;
    // From one batch to the next, so that neither a batch's many jobs nor those that are done are looked at.
    transaction.rows(
        "WITH RECURSIVE waiting(batch) AS ("
        "SELECT min(batch) FROM tutti_jobs_hot WHERE state = 'queued' "
        "AND batch >= $1 AND batch < $2 "
        "UNION ALL SELECT (SELECT min(batch) FROM tutti_jobs_hot WHERE state = 'queued' "
        "AND batch > waiting.batch AND batch < $2) FROM waiting WHERE batch IS NOT NULL) "
        "SELECT batch FROM waiting WHERE batch IS NOT NULL",
        [&](const Row& row) { found.push_back(row.text(0)); }, prefix, end);
    return found;
  });
}

}  // namespace tutti
