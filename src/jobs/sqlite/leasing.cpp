#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/job_rows.h"

namespace tutti {

bool is_held(Database& database, const LeaseKey& key) {
  bool held = false;
  database.rows(
      "SELECT 1 FROM tasks WHERE id = ?1 AND lease_token = ?2 AND state = 'running'", [&](const ResultRow&) { held = true; },
      key.job, key.token);
  return held;
}

JobId SqliteStore::first_claimable(Database& database, const ClaimRequest& request) const {
  JobId found = 0;
  const auto take = [&](const ResultRow& row) { found = row.number(0); };
  const std::string_view claimable =
      " FROM tasks WHERE state = 'queued' AND not_before <= ?1 AND waits_for = 0 "
      "AND (?2 = '' OR batch = ?2) AND (?3 = '' OR failed_on <> ?3) ";
  const std::int64_t time = ms_of(now());
  if (request.job)
    database.rows("SELECT id" + std::string(claimable) + "AND id = ?4", take, time, request.batch,
                  request.not_failed_on, *request.job);
  else
    database.rows("SELECT id" + std::string(claimable) + "ORDER BY class, aged_from, due, size, submitted, id LIMIT 1",
                  take, time, request.batch, request.not_failed_on);
  return found;
}

Result<std::optional<Lease>> SqliteStore::claim(const ClaimRequest& request) {
  return transact([&](Database& database) -> std::optional<Lease> {
    const JobId job = first_claimable(database, request);
    if (job == 0) return {};
    Lease lease;
    lease.key = {job, random_token()};
    lease.until = now() + request.length;
    const std::string update =
        "UPDATE tasks SET state = 'running', attempts = attempts + 1, progress = 0, device = ?2, owner = ?3, "
        "lease_token = ?4, lease_until = ?5 WHERE id = ?1 RETURNING " +
        std::string(kJobColumns);
    database.rows(
        update, [&](const ResultRow& row) { lease.job = job_in(row); }, job, request.device, owner_.name(),
        lease.key.token, ms_of(lease.until));
    lease.attempt = lease.job.attempts;
    database.run("INSERT INTO attempts(task, number, token, device, owner, started) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                 job, lease.attempt, lease.key.token, request.device, owner_.name(), ms_of(now()));
    if (const JobId twin = done_twin(database, job, lease.job.sha256, lease.job.spec.options))
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
          [&](const ResultRow& row) { standing = row.count(0) ? LeaseStanding::cancel : LeaseStanding::held; },
          renewal.key.job, renewal.key.token, ms_of(now() + renewal.length), renewal.progress);
      standings.push_back(standing);
    }
    return standings;
  });
}

Result<ContentCheck> SqliteStore::content_known(const LeaseKey& key, const std::string& sha256) {
  return transact([&](Database& database) -> ContentCheck {
    if (!is_held(database, key)) return {.what = ContentCheck::What::lost};
    std::string options, old_sha256;
    database.rows(
        "UPDATE tasks SET sha256 = ?2 WHERE id = ?1 RETURNING options, old_sha256",
        [&](const ResultRow& row) {
          options = row.text(0);
          old_sha256 = row.text(1);
        },
        key.job, sha256);
    if (!sha256.empty() && old_sha256 == sha256)  // only its date changed
      return {ContentCheck::What::copy, key.job, outputs_of(database, key.job)};
    if (const JobId twin = done_twin(database, key.job, sha256, options)) {
      database.run("UPDATE tasks SET same_as = ?2 WHERE id = ?1", key.job, twin);
      return {ContentCheck::What::copy, twin, outputs_of(database, twin)};
    }
    // Only a job at work is worth waiting for; one that waits itself is queued, so jobs never wait in a circle.
    JobId at_work = 0;
    database.rows(
        "SELECT id FROM tasks WHERE sha256 = ?1 AND sha256 <> '' AND options = ?2 AND id <> ?3 AND state = 'running' "
        "ORDER BY id LIMIT 1",
        [&](const ResultRow& row) { at_work = row.number(0); }, sha256, options, key.job);
    if (at_work == 0) return {};
    // To have found that out was no attempt at it.
    database.run("DELETE FROM attempts WHERE task = ?1 AND token = ?2", key.job, key.token);
    database.run("UPDATE tasks SET attempts = attempts - 1 WHERE id = ?1", key.job);
    give_back(database, key.job, AttemptEnd::handed_back, "waits for a job with the same content");
    database.run("UPDATE tasks SET same_as = ?2, waits_for = ?2 WHERE id = ?1 AND state = 'queued'", key.job, at_work);
    return {ContentCheck::What::wait, at_work, {}};
  });
}

}  // namespace tutti
