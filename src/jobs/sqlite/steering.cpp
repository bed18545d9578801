#include "jobs/publish.h"
#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/job_rows.h"

namespace tutti {
namespace {

/// One UPDATE over what a filter means; how many rows it changed.
std::size_t update(Database& database, const JobFilter& filter, const std::string& set, const std::string& from) {
  const FilterSql sql = sql_of(filter);
  return static_cast<std::size_t>(
      database.run("UPDATE tasks SET " + set + " WHERE state IN (" + from + ") AND " + sql.condition, filter.batch,
                   filter.run, sql.states, sql.ids));
}

/// Waits from now on: while it had ended, it was not waiting.
std::string requeue_columns(StoreTime now) {
  return "state = 'queued', strikes = 0, device_failures = 0, memory_failures = 0, not_before = 0, waits_for = 0, "
         "cancel_wished = 0, failed_on = '', progress = 0, published = 0, submitted = " +
         std::to_string(ms_of(now)) + ", aged_from = " + std::to_string(aged_from(now, 0)) + " - priority * " +
         std::to_string(kAgeingMs);
}

}  // namespace

Result<std::size_t> SqliteStore::cancel(const JobFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'cancelled', waits_for = 0", "'queued', 'held'") +
                                update(database, filter, "cancel_wished = 1", "'running'");
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::hold(const JobFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'held', waits_for = 0", "'queued'");
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::resume(const JobFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, "state = 'queued'", "'held'"); });
}

Result<std::size_t> SqliteStore::retry(const JobFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, requeue_columns(now()), "'dead', 'cancelled'"); });
}

Result<std::size_t> SqliteStore::redo(const JobFilter& filter, Redo which) {
  if (which == Redo::all)
    return transact([&](Database& database) { return update(database, filter, requeue_columns(now()), "'done'"); });
  struct Done {
    JobId job;
    std::vector<JobOutput> outputs;
  };
  const auto done = transact([&](Database& database) {
    std::vector<Done> found;
    const FilterSql sql = sql_of(filter);
    // What is not in place yet, another process may be about to put there.
    database.rows(
        "SELECT id FROM tasks WHERE state = 'done' AND published = 1 AND " + sql.condition,
        [&](const ResultRow& row) {
          found.push_back({row.number(0), {}});
        },
        filter.batch, filter.run, sql.states, sql.ids);
    for (auto& each : found) each.outputs = outputs_of(database, each.job);
    return found;
  });
  if (!done) return tl::unexpected(done.error());
  const Existing existing = which == Redo::missing_or_kept ? Existing::replace : Existing::keep;
  JobFilter missing;
  for (const auto& each : *done)
    if (!outputs_are_there(each.outputs, existing)) missing.ids.push_back(each.job);
  if (missing.ids.empty()) return 0;
  return redo(missing, Redo::all);
}

}  // namespace tutti
