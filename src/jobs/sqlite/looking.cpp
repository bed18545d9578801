#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/task_rows.h"

namespace tutti {

Result<TaskCounts> SqliteStore::counts(const TaskFilter& filter) {
  return transact([&](Database& database) {
    TaskCounts counts;
    const FilterSql sql = sql_of(filter);
    database.rows(
        "SELECT state, count(*) FROM tasks WHERE " + sql.condition + " GROUP BY state",
        [&](const Row& row) {
          switch (task_state_named(row.text(0)).value_or(TaskState::queued)) {
            case TaskState::queued: counts.queued = row.number(1); break;
            case TaskState::running: counts.running = row.number(1); break;
            case TaskState::done: counts.done = row.number(1); break;
            case TaskState::dead: counts.dead = row.number(1); break;
            case TaskState::cancelled: counts.cancelled = row.number(1); break;
            case TaskState::held: counts.held = row.number(1); break;
          }
        },
        filter.batch, filter.run, sql.states, sql.ids);
    return counts;
  });
}

Result<std::vector<Task>> SqliteStore::tasks(const TaskFilter& filter, TaskId after, std::size_t limit) {
  return transact([&](Database& database) {
    std::vector<Task> found;
    const FilterSql sql = sql_of(filter);
    database.rows(
        "SELECT " + std::string(kTaskColumns) + " FROM tasks WHERE id > ?5 AND " + sql.condition +
            " ORDER BY id LIMIT ?6",
        [&](const Row& row) { found.push_back(task_in(row)); }, filter.batch, filter.run, sql.states, sql.ids, after,
        static_cast<std::int64_t>(limit));
    return found;
  });
}

Result<std::vector<Attempt>> SqliteStore::attempts(TaskId task) {
  return transact([&](Database& database) {
    std::vector<Attempt> found;
    database.rows(
        "SELECT task, number, device, owner, started, ended, end, failure, error, busy FROM attempts WHERE task = ?1 "
        "ORDER BY number",
        [&](const Row& row) {
          Attempt attempt{row.number(0), row.count(1), row.text(2), row.text(3), time_of(row.number(4))};
          if (row.has(5)) attempt.ended = time_of(row.number(5));
          attempt.end = attempt_end_named(row.text(6)).value_or(AttemptEnd::running);
          attempt.failure = row.text(7);
          attempt.error = row.text(8);
          attempt.busy = Seconds(row.real(9));
          found.push_back(std::move(attempt));
        },
        task);
    return found;
  });
}

Result<std::vector<TaskOutput>> SqliteStore::outputs(TaskId task) {
  return transact([&](Database& database) {
    bool done = false;
    database.rows(
        "SELECT 1 FROM tasks WHERE id = ?1 AND state = 'done'", [&](const Row&) { done = true; }, task);
    return done ? outputs_of(database, task) : std::vector<TaskOutput>{};
  });
}

Result<std::vector<JobStore::Unpublished>> SqliteStore::unpublished() {
  return transact([&](Database& database) {
    std::vector<Unpublished> found;
    database.rows("SELECT id FROM tasks WHERE state = 'done' AND published = 0 ORDER BY id", [&](const Row& row) {
      found.push_back({row.number(0), {}});
    });
    for (auto& task : found) task.outputs = outputs_of(database, task.task);
    return found;
  });
}

Result<void> SqliteStore::mark_published(TaskId task) {
  return transact([&](Database& database) {
    database.run("UPDATE tasks SET published = 1 WHERE id = ?1 AND state = 'done'", task);
  });
}

Result<std::vector<KnownContent>> SqliteStore::written(TaskId task) {
  return transact([&](Database& database) {
    std::vector<KnownContent> all;
    database.rows(
        "SELECT sha256, bytes FROM results WHERE task = ?1 AND known <> 0 "
        "UNION SELECT sha256, bytes FROM written WHERE task = ?1",
        [&](const Row& row) {
          all.push_back({row.text(0), row.number(1)});
        },
        task);
    return all;
  });
}

Result<void> SqliteStore::record_written(TaskId task, const KnownContent& content) {
  return transact([&](Database& database) {
    database.run("INSERT OR IGNORE INTO written(task, sha256, bytes) VALUES(?1, ?2, ?3)", task, content.sha256,
                 content.bytes);
  });
}

Result<void> SqliteStore::move_output(TaskId task, const TaskOutput& output) {
  return transact([&](Database& database) {
    database.run("UPDATE results SET path = ?3, kept = ?4 WHERE task = ?1 AND staged = ?2", task, output.staged,
                 output.path, output.kept);
  });
}

Result<JobStore::StagedBy> SqliteStore::staged_by(const LeaseKey& key) {
  return transact([&](Database& database) {
    auto by = StagedBy::stranger;
    database.rows(
        "SELECT end = 'running' OR (end = 'done' AND EXISTS(SELECT 1 FROM tasks WHERE id = ?1 AND state = 'done' "
        "AND published = 0)) FROM attempts WHERE task = ?1 AND token = ?2",
        [&](const Row& row) { by = row.count(0) ? StagedBy::at_work : StagedBy::over; }, key.task, key.token);
    return by;
  });
}

}  // namespace tutti
