#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/task_rows.h"

namespace tutti {
namespace {

/// One UPDATE over what a filter means; how many rows it changed.
std::size_t update(Database& database, const TaskFilter& filter, const std::string& set, const std::string& from) {
  const FilterSql sql = sql_of(filter);
  return static_cast<std::size_t>(
      database.run("UPDATE tasks SET " + set + " WHERE state IN (" + from + ") AND " + sql.condition, filter.batch,
                   filter.run, sql.states, sql.ids));
}

constexpr const char* kAnew =
    "state = 'queued', strikes = 0, device_failures = 0, memory_failures = 0, not_before = 0, waits_for = 0, "
    "cancel_wished = 0, failed_on = '', progress = 0, published = 0";

}  // namespace

Result<std::size_t> SqliteStore::cancel(const TaskFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'cancelled', waits_for = 0", "'queued', 'held'") +
                                update(database, filter, "cancel_wished = 1", "'running'");
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::hold(const TaskFilter& filter) {
  return transact([&](Database& database) {
    const std::size_t changed = update(database, filter, "state = 'held', waits_for = 0", "'queued'");
    release_waiting(database);
    return changed;
  });
}

Result<std::size_t> SqliteStore::resume(const TaskFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, "state = 'queued'", "'held'"); });
}

Result<std::size_t> SqliteStore::retry(const TaskFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, kAnew, "'dead', 'cancelled'"); });
}

Result<std::size_t> SqliteStore::redo(const TaskFilter& filter) {
  return transact([&](Database& database) { return update(database, filter, kAnew, "'done'"); });
}

}  // namespace tutti
