#include "jobs/sqlite/job_rows.h"

#include "jobs/job_rules.h"

namespace tutti {

const std::string kJobColumns = job_columns("cancel_wished");

FilterSql sql_of(const JobFilter& filter) {
  FilterSql sql{.condition =
                    "(?1 = ?1 OR ?2 = ?2 OR ?3 = ?3 OR ?4 = ?4 OR ?5 = ?5)"};  // always true, and names every argument
  const auto list = [](const auto& items, auto&& text_of) {
    std::string json = "[";
    for (const auto& item : items) json += (json.size() > 1 ? "," : "") + text_of(item);
    return json + "]";
  };
  if (!filter.batch.empty()) sql.condition += " AND batch = ?1";
  if (filter.run != 0) sql.condition += " AND run = ?2";
  if (!filter.states.empty()) {
    sql.states = list(filter.states, [](JobState state) { return '"' + std::string(name_of(state)) + '"'; });
    sql.condition += " AND state IN (SELECT value FROM json_each(?3))";
  }
  if (!filter.ids.empty()) {
    sql.ids = list(filter.ids, [](JobId id) { return std::to_string(id); });
    sql.condition += " AND id IN (SELECT value FROM json_each(?4))";
  }
  if (!filter.options.empty()) sql.condition += " AND options = ?5";
  return sql;
}

std::vector<JobOutput> outputs_of(Database& database, JobId job) {
  std::vector<JobOutput> outputs;
  database.rows(
      "SELECT path, staged, sha256, bytes, modified_ns, kept FROM results WHERE task = ?1 ORDER BY number",
      [&](const ResultRow& row) { outputs.push_back(output_in(row)); }, job);
  return outputs;
}

void drop_results(Database& database, JobId job) {
  database.run(
      "INSERT OR IGNORE INTO written(task, sha256, bytes) SELECT task, sha256, bytes FROM results "
      "WHERE task = ?1 AND known <> 0",
      job);
  database.run("DELETE FROM results WHERE task = ?1", job);
}

namespace {

template <class Value>
std::optional<Job> job_where(Database& database, const std::string& column, const Value& value) {
  std::optional<Job> found;
  const std::string select = "SELECT " + kJobColumns + " FROM tasks WHERE " + column + " = ?1";
  database.rows(
      select, [&](const ResultRow& row) { found = job_in(row); }, value);
  return found;
}

}  // namespace

std::optional<Job> job_with_key(Database& database, const std::string& key) {
  return job_where(database, "key", key);
}

std::optional<Job> job_with_id(Database& database, JobId id) {
  return job_where(database, "id", id);
}

std::size_t forget_jobs(Database& database, const JobFilter& filter) {
  const FilterSql sql = sql_of(filter);
  std::vector<JobId> ended;
  database.rows(
      "SELECT id FROM tasks WHERE state IN (" + sql_list(kForgettable) + ") AND " + sql.condition,
      [&](const ResultRow& row) { ended.push_back(row.number(0)); }, filter.batch, filter.run, sql.states, sql.ids,
      filter.options);
  for (const JobId job : ended) {
    for (const char* table : {"attempts", "results", "written"})
      database.run("DELETE FROM " + std::string(table) + " WHERE task = ?1", job);
    database.run("DELETE FROM tasks WHERE id = ?1", job);
  }
  return ended.size();
}

JobId twin_of(Database& database, JobId job, const std::string& sha256, const std::string& options, JobState state) {
  JobId twin = 0;
  if (sha256.empty()) return twin;
  database.rows(
      "SELECT id FROM tasks WHERE sha256 = ?1 AND sha256 <> '' AND options = ?2 AND id <> ?3 AND state = ?4 "
      "ORDER BY id LIMIT 1",
      [&](const ResultRow& row) { twin = row.number(0); }, sha256, options, job, name_of(state));
  return twin;
}

// Not for one that is queued again: its requester may be gone, and it may never be requested again.
void release_waiting(Database& database) {
  database.run(
      "UPDATE tasks SET waits_for = 0 WHERE waits_for <> 0 "
      "AND NOT EXISTS(SELECT 1 FROM tasks AS twin WHERE twin.id = tasks.waits_for AND twin.sha256 = tasks.sha256 "
      "AND twin.state = 'running')");
}

}  // namespace tutti
