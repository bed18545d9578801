#include <array>
#include <map>

#include "base/try.h"
#include "jobs/job_rules.h"
#include "jobs/publish.h"
#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/sqlite_store.h"

namespace tutti {

// ---- steering

namespace {

/// One UPDATE over what a filter means; how many rows it changed.
std::size_t update(Database& database, const JobFilter& filter, const std::string& set,
                   std::span<const JobState> from) {
  const FilterSql sql = sql_of(filter);
  return static_cast<std::size_t>(
      database.run("UPDATE tasks SET " + set + " WHERE state IN (" + sql_list(from) + ") AND " + sql.condition,
                   filter.batch, filter.run, sql.states, sql.ids, filter.options));
}

std::size_t requeue(Database& database, const JobFilter& filter, StoreTime now, std::span<const JobState> from) {
  return update(database, filter, requeue_columns(now, "cancel_wished"), from);
}

}  // namespace

Result<std::size_t> SqliteStore::cancel(const JobFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'cancelled', waits_for = 0", kCancellable) +
                                update(database, filter, "cancel_wished = 1", std::array{JobState::running});
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::hold(const JobFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'held', waits_for = 0", kHoldable);
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::resume(const JobFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, "state = 'queued'", kResumable); });
}

Result<std::size_t> SqliteStore::retry(const JobFilter& filter) {
  return transact([&](Database& database) { return requeue(database, filter, now(), kRetriable); });
}

Result<std::size_t> SqliteStore::forget(const JobFilter& filter) {
  return transact([&](Database& database) { return forget_jobs(database, filter); });
}

Result<std::size_t> SqliteStore::redo(const JobFilter& filter, Redo which) {
  if (which == Redo::all)
    return transact([&](Database& database) { return requeue(database, filter, now(), kRedoable); });
  const auto done = transact([&](Database& database) {
    std::vector<DoneJob> found;
    const FilterSql sql = sql_of(filter);
    // What is not in place yet, another process may be about to put there.
    database.rows(
        "SELECT id FROM tasks WHERE state = 'done' AND published = 1 AND " + sql.condition,
        [&](const ResultRow& row) {
          found.push_back({row.number(0), {}});
        },
        filter.batch, filter.run, sql.states, sql.ids, filter.options);
    for (auto& each : found) each.outputs = outputs_of(database, each.job);
    return found;
  });
  TRY(done);
  const JobFilter missing{.ids = jobs_with_missing_outputs(*done, which, objects())};
  if (missing.ids.empty()) return 0;
  return redo(missing, Redo::all);
}

// ---- looking, and putting outputs in place

Result<JobCounts> SqliteStore::counts(const JobFilter& filter) {
  return transact([&](Database& database) {
    JobCounts counts;
    const FilterSql sql = sql_of(filter);
    database.rows(
        "SELECT state, count(*) FROM tasks WHERE " + sql.condition + " GROUP BY state",
        [&](const ResultRow& row) { count_of(counts, row.text(0)) = row.number(1); }, filter.batch, filter.run,
        sql.states, sql.ids, filter.options);
    return counts;
  });
}

Result<std::vector<Job>> SqliteStore::jobs(const JobFilter& filter, JobId after, std::size_t limit) {
  return transact([&](Database& database) {
    std::vector<Job> found;
    const FilterSql sql = sql_of(filter);
    database.rows(
        "SELECT " + kJobColumns + " FROM tasks WHERE id > ?6 AND " + sql.condition + " ORDER BY id LIMIT ?7",
        [&](const ResultRow& row) { found.push_back(job_in(row)); }, filter.batch, filter.run, sql.states, sql.ids,
        filter.options, after, static_cast<std::int64_t>(limit));
    return found;
  });
}

Result<std::vector<Job>> SqliteStore::latest_jobs(const JobFilter& filter, const std::string& name, JobId before,
                                                  std::size_t limit) {
  return transact([&](Database& database) {
    std::vector<Job> found;
    const FilterSql sql = sql_of(filter);
    database.rows(
        "SELECT " + std::string(kJobColumns) +
            " FROM tasks WHERE (?6 = 0 OR id < ?6) AND (?8 = '' OR instr(lower(name), lower(?8)) > 0) AND " +
            sql.condition + " ORDER BY id DESC LIMIT ?7",
        [&](const ResultRow& row) { found.push_back(job_in(row)); }, filter.batch, filter.run, sql.states, sql.ids,
        filter.options, before, static_cast<std::int64_t>(limit), name);
    return found;
  });
}

Result<std::vector<ClassCount>> SqliteStore::open_by_class() {
  return transact([&](Database& database) {
    std::vector<ClassCount> found;
    database.rows(
        "SELECT class, state, count(*) FROM tasks WHERE state IN ('queued', 'running', 'held') GROUP BY class, state",
        [&](const ResultRow& row) { found.push_back(class_count_in(row)); });
    return found;
  });
}

Result<std::vector<EndedJobs>> SqliteStore::ended_since(StoreTime since) {
  return transact([&](Database& database) {
    std::map<std::int64_t, EndedJobs> found;
    database.rows(
        "SELECT a.ended / 60000, j.state, count(*) FROM attempts a JOIN tasks j ON j.id = a.task AND j.attempts = "
        "a.number "
        "WHERE a.ended >= ?1 AND j.state IN ('done', 'dead') GROUP BY a.ended / 60000, j.state",
        [&](const ResultRow& row) { add_ended(found, row); }, ms_of(since));
    std::vector<EndedJobs> minutes;
    for (const auto& [minute, ended] : found) minutes.push_back(ended);
    return minutes;
  });
}

Result<std::vector<Attempt>> SqliteStore::attempts(JobId job) {
  return transact([&](Database& database) {
    std::vector<Attempt> found;
    database.rows(
        "SELECT task, number, device, owner, started, ended, end, failure, error, busy FROM attempts WHERE task = ?1 "
        "ORDER BY number",
        [&](const ResultRow& row) { found.push_back(attempt_in(row)); }, job);
    return found;
  });
}

Result<std::optional<Job>> SqliteStore::find(const std::string& key) {
  return transact([&](Database& database) { return job_with_key(database, key); });
}

Result<std::vector<std::string>> SqliteStore::waiting_batches(std::string prefix) {
  std::string end = prefix;
  ++end.back();
  return transact([&](Database& database) {
    std::vector<std::string> found;
    // From one batch to the next, so that neither a batch's many jobs nor those that are done are looked at.
    database.rows(
        "WITH RECURSIVE waiting(batch) AS ("
        "SELECT min(batch) FROM tasks INDEXED BY tasks_claimable_of_batch "
        "WHERE state = 'queued' AND batch >= ?1 AND batch < ?2 "
        "UNION ALL SELECT (SELECT min(batch) FROM tasks INDEXED BY tasks_claimable_of_batch "
        "WHERE state = 'queued' AND batch > waiting.batch AND batch < ?2) FROM waiting WHERE batch IS NOT NULL) "
        "SELECT batch FROM waiting WHERE batch IS NOT NULL",
        [&](const ResultRow& row) { found.push_back(row.text(0)); }, prefix, end);
    return found;
  });
}

Result<std::vector<JobOutput>> SqliteStore::outputs(JobId job) {
  return transact([&](Database& database) {
    bool done = false;
    database.rows(
        "SELECT 1 FROM tasks WHERE id = ?1 AND state = 'done'", [&](const ResultRow&) { done = true; }, job);
    return done ? outputs_of(database, job) : std::vector<JobOutput>{};
  });
}

Result<std::vector<OutputRecords::Unpublished>> SqliteStore::unpublished() {
  return transact([&](Database& database) {
    std::vector<Unpublished> found;
    database.rows("SELECT id FROM tasks WHERE state = 'done' AND published = 0 ORDER BY id", [&](const ResultRow& row) {
      found.push_back({row.number(0), {}});
    });
    for (auto& job : found) job.outputs = outputs_of(database, job.job);
    return found;
  });
}

Result<void> SqliteStore::mark_published(JobId job, const std::string& staged) {
  return transact([&](Database& database) {
    database.run(
        "UPDATE tasks SET published = 1 WHERE id = ?1 AND state = 'done' "
        "AND EXISTS(SELECT 1 FROM results WHERE task = ?1 AND staged = ?2)",
        job, staged);
  });
}

Result<std::vector<KnownContent>> SqliteStore::written(JobId job) {
  return transact([&](Database& database) {
    std::vector<KnownContent> all;
    database.rows(
        "SELECT sha256, bytes FROM results WHERE task = ?1 AND known <> 0 "
        "UNION SELECT sha256, bytes FROM written WHERE task = ?1",
        [&](const ResultRow& row) {
          all.push_back({row.text(0), row.number(1)});
        },
        job);
    return all;
  });
}

Result<void> SqliteStore::record_written(JobId job, const KnownContent& content) {
  return transact([&](Database& database) {
    database.run("INSERT OR IGNORE INTO written(task, sha256, bytes) VALUES(?1, ?2, ?3)", job, content.sha256,
                 content.bytes);
  });
}

Result<void> SqliteStore::move_output(JobId job, const JobOutput& output) {
  return transact([&](Database& database) {
    database.run(
        "UPDATE results SET path = ?3, kept = ?4, sha256 = ?5, bytes = ?6, modified_ns = ?7 "
        "WHERE task = ?1 AND staged = ?2",
        job, output.staged, output.path, output.kept, output.sha256, output.bytes, output.modified_ns);
  });
}

Result<OutputRecords::StagedBy> SqliteStore::staged_by(const LeaseKey& key) {
  return transact([&](Database& database) {
    auto by = StagedBy::other;
    database.rows(
        "SELECT end = 'running' OR (end = 'done' AND EXISTS(SELECT 1 FROM tasks WHERE id = ?1 AND state = 'done' "
        "AND published = 0)) FROM attempts WHERE task = ?1 AND token = ?2",
        [&](const ResultRow& row) { by = row.count(0) ? StagedBy::at_work : StagedBy::over; }, key.job, key.token);
    return by;
  });
}

}  // namespace tutti
