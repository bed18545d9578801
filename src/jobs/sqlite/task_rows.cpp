#include "jobs/sqlite/task_rows.h"

#include <limits>

#include "base/numbers.h"

namespace tutti {

const char* const kTaskColumns =
    "id, run, key, batch, input, bytes, modified_ns, options, audio, length, class, priority, deadline, uuid, name, "
    "extra, state, attempts, strikes, progress, sha256, same_as, submitted, not_before, cancel_wished, device, error";

Task task_in(const Row& row) {
  Task task;
  task.id = row.number(0);
  task.run = row.number(1);
  TaskSpec& spec = task.spec;
  spec.key = row.text(2);
  spec.batch = row.text(3);
  spec.input = row.text(4);
  spec.identity = {row.number(5), row.number(6)};
  spec.options = row.text(7);
  if (row.has(8)) spec.audio = Seconds(row.real(8));
  spec.length = static_cast<LengthSource>(row.count(9));
  spec.task_class = static_cast<TaskClass>(row.count(10));
  spec.priority = row.count(11);
  if (row.has(12)) spec.deadline = time_of(row.number(12));
  spec.uuid = row.text(13);
  spec.name = row.text(14);
  spec.extra = row.text(15);
  task.state = task_state_named(row.text(16)).value_or(TaskState::queued);
  task.attempts = row.count(17);
  task.strikes = row.count(18);
  task.progress = row.real(19);
  task.sha256 = row.text(20);
  task.same_as = row.number(21);
  task.submitted = time_of(row.number(22));
  task.not_before = time_of(row.number(23));
  task.cancel_wished = row.count(24) != 0;
  task.device = row.text(25);
  task.error = row.text(26);
  return task;
}

std::int64_t aged_from(StoreTime submitted, int priority) {
  return rounded_up(ms_of(submitted), kAgeingMs) - priority * kAgeingMs;
}

ClaimOrder claim_order(const TaskSpec& spec) {
  constexpr double kUsualLength = 40 * 60;
  const double audio = spec.audio ? spec.audio->count() : kUsualLength;
  switch (spec.task_class) {
    case TaskClass::interactive:
      return {spec.deadline ? ms_of(*spec.deadline) : std::numeric_limits<std::int64_t>::max(), audio};
    case TaskClass::normal: return {};
    case TaskClass::batch: return {0, -audio};
  }
  return {};
}

FilterSql sql_of(const TaskFilter& filter) {
  FilterSql sql{.condition = "(?1 = ?1 OR ?2 = ?2 OR ?3 = ?3 OR ?4 = ?4)"};  // always true, and names every argument
  const auto list = [](const auto& items, auto&& text_of) {
    std::string json = "[";
    for (const auto& item : items) json += (json.size() > 1 ? "," : "") + text_of(item);
    return json + "]";
  };
  if (!filter.batch.empty()) sql.condition += " AND batch = ?1";
  if (filter.run != 0) sql.condition += " AND run = ?2";
  if (!filter.states.empty()) {
    sql.states = list(filter.states, [](TaskState state) { return '"' + std::string(name_of(state)) + '"'; });
    sql.condition += " AND state IN (SELECT value FROM json_each(?3))";
  }
  if (!filter.ids.empty()) {
    sql.ids = list(filter.ids, [](TaskId id) { return std::to_string(id); });
    sql.condition += " AND id IN (SELECT value FROM json_each(?4))";
  }
  return sql;
}

std::vector<TaskOutput> outputs_of(Database& database, TaskId task) {
  std::vector<TaskOutput> outputs;
  database.rows(
      "SELECT path, staged, sha256, bytes, modified_ns, kept FROM results WHERE task = ?1 ORDER BY number",
      [&](const Row& row) {
        outputs.push_back({row.text(0), row.text(1), row.text(2), row.number(3), row.number(4), row.text(5)});
      },
      task);
  return outputs;
}

void drop_results(Database& database, TaskId task) {
  database.run(
      "INSERT OR IGNORE INTO written(task, sha256, bytes) SELECT task, sha256, bytes FROM results "
      "WHERE task = ?1 AND known <> 0",
      task);
  database.run("DELETE FROM results WHERE task = ?1", task);
}

TaskId done_twin(Database& database, TaskId task, const std::string& sha256, const std::string& options) {
  TaskId twin = 0;
  if (sha256.empty()) return twin;
  database.rows(
      "SELECT id FROM tasks WHERE sha256 = ?1 AND sha256 <> '' AND options = ?2 AND id <> ?3 AND state = 'done' "
      "ORDER BY id LIMIT 1",
      [&](const Row& row) { twin = row.number(0); }, sha256, options, task);
  return twin;
}

}  // namespace tutti
