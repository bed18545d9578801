#include <set>

#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/job_rows.h"

namespace tutti {
namespace {

/// In [0, 1), for the jitter of waits.
double dice() {
  return static_cast<double>(std::stoul(random_token().substr(0, 8), nullptr, 16)) / 4294967296.0;
}

}  // namespace

// Not for one that is queued again: its requester may be gone, and it may never be requested again.
void release_waiting(Database& database) {
  database.run(
      "UPDATE tasks SET waits_for = 0 WHERE waits_for <> 0 "
      "AND NOT EXISTS(SELECT 1 FROM tasks AS twin WHERE twin.id = tasks.waits_for AND twin.sha256 = tasks.sha256 "
      "AND twin.state = 'running')");
}

void SqliteStore::end_attempt(Database& database, JobId job, AttemptEnd end, std::string_view failure,
                              const std::string& error, const AttemptUse& use) const {
  database.run(
      "UPDATE attempts SET end = ?2, failure = ?3, error = ?4, ended = ?5, device = iif(?6 = '', device, ?6), "
      "audio = ?7, busy = ?8 WHERE task = ?1 AND end = 'running'",
      job, name_of(end), failure, error, ms_of(now()), use.device, use.audio.count(), use.busy.count());
}

Result<bool> SqliteStore::complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) {
  return transact([&](Database& database) {
    if (!is_held(database, key)) return false;
    database.run(
        "UPDATE tasks SET state = 'done', progress = 1, error = '', lease_token = '', owner = '', cancel_wished = 0, "
        "published = ?2, device = iif(?3 = '', device, ?3) WHERE id = ?1",
        key.job, outputs.empty() ? 1 : 0, use.device);
    drop_results(database, key.job);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      database.run(
          "INSERT INTO results(task, number, path, staged, sha256, bytes, modified_ns, kept, known) "
          "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)",
          key.job, static_cast<std::int64_t>(i), outputs[i].path, outputs[i].staged, outputs[i].sha256,
          outputs[i].bytes, outputs[i].modified_ns, outputs[i].kept);
    end_attempt(database, key.job, AttemptEnd::done, "", "", use);
    release_waiting(database);
    return true;
  });
}

AfterFailure SqliteStore::settle_failure(Database& database, JobId job, FailureClass kind, AttemptEnd end,
                                         const std::string& error, const AttemptUse& use) const {
  RetryHistory history;
  std::string device;
  bool cancel = false;
  database.rows(
      "SELECT strikes, device_failures, memory_failures, device, cancel_wished FROM tasks WHERE id = ?1",
      [&](const ResultRow& row) {
        history = {row.count(0), row.count(1), row.count(2)};
        device = row.text(3);
        cancel = row.count(4) != 0;
      },
      job);
  const RetryDecision decision = decide_retry(kind, history, dice(), options_.retries);
  AfterFailure after{.wait = decision.wait};
  after.state = cancel ? JobState::cancelled : decision.again ? JobState::queued : JobState::dead;
  const bool forgiven = decision.again && !decision.counted;
  database.run(
      "UPDATE tasks SET state = ?2, strikes = strikes + ?3, device_failures = device_failures + ?4, "
      "memory_failures = memory_failures + ?5, not_before = ?6, error = ?7, failed_on = ?8, lease_token = '', "
      "owner = '', cancel_wished = 0, progress = 0 WHERE id = ?1",
      job, name_of(after.state), decision.counted ? 1 : 0, forgiven && kind == FailureClass::device ? 1 : 0,
      forgiven && kind == FailureClass::out_of_memory ? 1 : 0, ms_of(now() + decision.wait), error,
      use.device.empty() ? device : use.device);
  end_attempt(database, job, end, name_of(kind), error, use);
  release_waiting(database);
  return after;
}

Result<AfterFailure> SqliteStore::fail(const LeaseKey& key, const Failure& failure) {
  return transact([&](Database& database) -> AfterFailure {
    if (!is_held(database, key)) return {.held = false};
    return settle_failure(database, key.job, failure.kind, AttemptEnd::failed, failure.reason, failure.use);
  });
}

/// Queued again, or cancelled where that was requested; returns whether the job was at work.
bool SqliteStore::give_back(Database& database, JobId job, AttemptEnd end, const std::string& reason) const {
  const std::int64_t changed = database.run(
      "UPDATE tasks SET state = iif(cancel_wished, 'cancelled', 'queued'), cancel_wished = 0, lease_token = '', "
      "owner = '', progress = 0 WHERE id = ?1 AND state = 'running'",
      job);
  if (changed == 0) return false;
  end_attempt(database, job, end, "", reason, {});
  release_waiting(database);
  return true;
}

Result<bool> SqliteStore::release(const LeaseKey& key, const std::string& reason) {
  return transact([&](Database& database) {
    return is_held(database, key) && give_back(database, key.job, AttemptEnd::handed_back, reason);
  });
}

Result<bool> SqliteStore::cancelled(const LeaseKey& key) {
  return transact([&](Database& database) {
    if (!is_held(database, key)) return false;
    database.run("UPDATE tasks SET cancel_wished = 1 WHERE id = ?1", key.job);
    return give_back(database, key.job, AttemptEnd::handed_back, "cancelled");
  });
}

Result<std::size_t> SqliteStore::reap() {
  return transact([&](Database& database) {
    struct Running {
      JobId job;
      std::string owner;
      bool expired;
    };
    std::vector<Running> running;
    database.rows(
        "SELECT id, owner, lease_until < ?1 FROM tasks WHERE state = 'running'",
        [&](const ResultRow& row) {
          running.push_back({row.number(0), row.text(1), row.count(2) != 0});
        },
        ms_of(now()));
    std::set<std::string> gone;
    std::set<std::string> alive{owner_.name()};
    for (const auto& at_work : running) {
      if (gone.contains(at_work.owner) || alive.contains(at_work.owner)) continue;
      const bool has_gone = OwnerLock::has_gone(options_.folder / "owners", at_work.owner);
      (has_gone ? gone : alive).insert(at_work.owner);
    }
    std::size_t reaped = 0;
    for (const auto& at_work : running)
      if (gone.contains(at_work.owner) || at_work.expired)
        reaped += reap_one(database, at_work.job, gone.contains(at_work.owner));
    release_waiting(database);  // stores of earlier versions have some that wait for a job that is not worked on
    return reaped;
  });
}

/// An owner that went (kill -9, a crash of ours, power) is no fault of the job: decoding and tensors run in processes
/// of their own. One that is alive and does not renew may hang on the job: that counts.
std::size_t SqliteStore::reap_one(Database& database, JobId job, bool orphaned) const {
  if (orphaned) return give_back(database, job, AttemptEnd::orphaned, "its tutti process ended") ? 1 : 0;
  settle_failure(database, job, FailureClass::crash, AttemptEnd::expired, "the lease ran out", {});
  return 1;
}

}  // namespace tutti
