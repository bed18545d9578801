#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/task_rows.h"

namespace tutti {

bool is_held(Database& database, const LeaseKey& key) {
  bool held = false;
  database.rows(
      "SELECT 1 FROM tasks WHERE id = ?1 AND lease_token = ?2 AND state = 'running'", [&](const Row&) { held = true; },
      key.task, key.token);
  return held;
}

TaskId SqliteStore::first_claimable(Database& database, const ClaimRequest& request) const {
  TaskId found = 0;
  const auto take = [&](const Row& row) { found = row.number(0); };
  const std::string_view claimable =
      " FROM tasks WHERE state = 'queued' AND not_before <= ?1 AND waits_for = 0 "
      "AND (?2 = '' OR batch = ?2) AND (?3 = '' OR failed_on <> ?3) ";
  const std::int64_t time = ms_of(now());
  if (request.task)
    database.rows("SELECT id" + std::string(claimable) + "AND id = ?4", take, time, request.batch,
                  request.not_failed_on, *request.task);
  else
    database.rows("SELECT id" + std::string(claimable) + "ORDER BY class, aged_from, due, size, submitted, id LIMIT 1",
                  take, time, request.batch, request.not_failed_on);
  return found;
}

Result<std::optional<Lease>> SqliteStore::claim(const ClaimRequest& request) {
  return transact([&](Database& database) -> std::optional<Lease> {
    const TaskId task = first_claimable(database, request);
    if (task == 0) return {};
    Lease lease;
    lease.key = {task, random_token()};
    lease.until = now() + request.length;
    const std::string update =
        "UPDATE tasks SET state = 'running', attempts = attempts + 1, progress = 0, device = ?2, owner = ?3, "
        "lease_token = ?4, lease_until = ?5 WHERE id = ?1 RETURNING " +
        std::string(kTaskColumns);
    database.rows(
        update, [&](const Row& row) { lease.task = task_in(row); }, task, request.device, owner_.name(),
        lease.key.token, ms_of(lease.until));
    lease.attempt = lease.task.attempts;
    database.run("INSERT INTO attempts(task, number, token, device, owner, started) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                 task, lease.attempt, lease.key.token, request.device, owner_.name(), ms_of(now()));
    if (const TaskId twin = done_twin(database, task, lease.task.sha256, lease.task.spec.options))
      lease.same_outputs = outputs_of(database, twin);
    return lease;
  });
}

Result<std::vector<LeaseStanding>> SqliteStore::renew(std::span<const Renewal> renewals) {
  return transact([&](Database& database) {
    std::vector<LeaseStanding> standings;
    standings.reserve(renewals.size());
    for (const auto& renewal : renewals) {
      auto standing = LeaseStanding::lost;
      database.rows(
          "UPDATE tasks SET lease_until = ?3, progress = ?4 WHERE id = ?1 AND lease_token = ?2 AND state = 'running' "
          "RETURNING cancel_wished",
          [&](const Row& row) { standing = row.count(0) ? LeaseStanding::cancel : LeaseStanding::held; },
          renewal.key.task, renewal.key.token, ms_of(now() + renewal.length), renewal.progress);
      standings.push_back(standing);
    }
    return standings;
  });
}

Result<ContentVerdict> SqliteStore::content_known(const LeaseKey& key, const std::string& sha256) {
  return transact([&](Database& database) -> ContentVerdict {
    if (!is_held(database, key)) return {.what = ContentVerdict::What::lost};
    std::string options, old_sha256;
    database.rows(
        "UPDATE tasks SET sha256 = ?2 WHERE id = ?1 RETURNING options, old_sha256",
        [&](const Row& row) {
          options = row.text(0);
          old_sha256 = row.text(1);
        },
        key.task, sha256);
    if (!sha256.empty() && old_sha256 == sha256)  // only its date changed
      return {ContentVerdict::What::copy, key.task, outputs_of(database, key.task)};
    if (const TaskId twin = done_twin(database, key.task, sha256, options)) {
      database.run("UPDATE tasks SET same_as = ?2 WHERE id = ?1", key.task, twin);
      return {ContentVerdict::What::copy, twin, outputs_of(database, twin)};
    }
    // Only a task at work is worth waiting for; one that waits itself is queued, so nobody waits in a circle.
    TaskId at_work = 0;
    database.rows(
        "SELECT id FROM tasks WHERE sha256 = ?1 AND sha256 <> '' AND options = ?2 AND id <> ?3 AND state = 'running' "
        "ORDER BY id LIMIT 1",
        [&](const Row& row) { at_work = row.number(0); }, sha256, options, key.task);
    if (at_work == 0) return {};
    // To have found that out was no attempt at it.
    database.run("DELETE FROM attempts WHERE task = ?1 AND token = ?2", key.task, key.token);
    database.run("UPDATE tasks SET attempts = attempts - 1 WHERE id = ?1", key.task);
    give_back(database, key.task, AttemptEnd::handed_back, "waits for a task with the same content");
    database.run("UPDATE tasks SET same_as = ?2, waits_for = ?2 WHERE id = ?1 AND state = 'queued'", key.task, at_work);
    return {ContentVerdict::What::wait, at_work, {}};
  });
}

}  // namespace tutti
