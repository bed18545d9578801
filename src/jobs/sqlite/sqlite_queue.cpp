#include <set>

#include "base/random/kernel_random.h"
#include "jobs/job_rules.h"
#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/sqlite_store.h"

namespace tutti {
namespace {

/// The job, if the lease is still this holder's.
std::optional<Job> held_job(Database& database, const LeaseKey& key) {
  std::optional<Job> found;
  const std::string select =
      "SELECT " + kJobColumns + " FROM tasks WHERE id = ?1 AND lease_token = ?2 AND state = 'running'";
  database.rows(
      select, [&](const ResultRow& row) { found = job_in(row); }, key.job, key.token);
  return found;
}

}  // namespace

// ---- requesting work

namespace {

/// What a row keeps of a request as numbers.
struct Numbers {
  ClaimRank rank{};
  std::optional<double> audio{};
  std::optional<std::int64_t> deadline{};
};

Numbers numbers_of(const JobSpec& spec, StoreTime submitted) {
  Numbers numbers{.rank = claim_rank(spec, submitted)};
  if (spec.audio) numbers.audio = spec.audio->count();
  if (spec.deadline) numbers.deadline = ms_of(*spec.deadline);
  return numbers;
}

JobId insert(Database& database, RunId run, const JobSpec& spec, StoreTime time) {
  const auto [rank, audio, deadline] = numbers_of(spec, time);
  database.run(
      "INSERT INTO tasks(key, batch, run, input, bytes, modified_ns, options, audio, length, class, priority, "
      "deadline, uuid, name, extra, aged_from, due, size, state, submitted) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 'queued', ?19)",
      spec.key, spec.batch, run, spec.input, spec.identity.bytes, spec.identity.modified_ns, spec.options, audio,
      static_cast<int>(spec.length), static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, ms_of(rank.aged_from), rank.due, rank.size, ms_of(time));
  return database.last_id();
}

void keep_version(Database& database, RunId run, const Job& known, const JobSpec& spec) {
  const auto [rank, audio, deadline] = numbers_of(spec, known.submitted);
  database.run(
      "UPDATE tasks SET run = ?2, batch = ?3, class = ?4, priority = ?5, deadline = ?6, uuid = ?7, name = ?8, "
      "extra = ?9, aged_from = ?10, due = ?11, size = ?12 WHERE id = ?1",
      known.id, run, spec.batch, static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, ms_of(rank.aged_from), rank.due, rank.size);
}

}  // namespace

Result<std::vector<Submitted>> SqliteStore::submit(RunId run, std::span<const JobSpec> specs) {
  return transact([&](Database& database) {
    std::vector<Submitted> answers;
    answers.reserve(specs.size());
    const StoreTime time = now();  // jobs that are requested together have waited equally long
    for (const auto& spec : specs) answers.push_back(submit_one(database, run, spec, time));
    return answers;
  });
}

Submitted SqliteStore::submit_one(Database& database, RunId run, const JobSpec& spec, StoreTime time) const {
  const auto known = job_with_key(database, spec.key);
  const RequestDecision decision = decide_request(known ? &*known : nullptr, spec);
  switch (decision.what) {
    case Submitted::What::added:
      return {insert(database, run, decision.spec, time), decision.what, JobState::queued, time};
    case Submitted::What::kept:
      keep_version(database, run, *known, decision.spec);
      return {known->id, decision.what, known->state, known->submitted};
    case Submitted::What::renewed: break;
  }
  renew_version(database, run, known->id, decision, time);
  if (decision.offers_result)
    database.run("UPDATE tasks SET old_sha256 = ?2 WHERE id = ?1", known->id, known->sha256);
  else
    drop_results(database, known->id);
  return {known->id, decision.what, JobState::queued, time, decision.was};
}

/// A row keeps its id and its attempts; everything known of the old version goes. A worker on it is fenced off.
void SqliteStore::renew_version(Database& database, RunId run, JobId job, const RequestDecision& decision,
                                StoreTime time) const {
  const JobSpec& spec = decision.spec;
  const auto [rank, audio, deadline] = numbers_of(spec, time);
  end_attempt(database, job, AttemptEnd::handed_back, "", "the input or the options changed", {});
  database.run(
      "UPDATE tasks SET batch = ?2, run = ?3, input = ?4, bytes = ?5, modified_ns = ?6, options = ?7, audio = ?8, "
      "length = ?9, class = ?10, priority = ?11, deadline = ?12, uuid = ?13, name = ?14, extra = ?15, aged_from = ?16, "
      "due = ?17, size = ?18, submitted = ?19, state = 'queued', strikes = 0, device_failures = 0, memory_failures = "
      "0, progress = 0, sha256 = iif(?20, sha256, ''), old_sha256 = '', same_as = 0, waits_for = 0, not_before = 0, "
      "cancel_wished = 0, owner = '', failed_on = '', lease_token = '', error = '', published = 0 WHERE id = ?1",
      job, spec.batch, run, spec.input, spec.identity.bytes, spec.identity.modified_ns, spec.options, audio,
      static_cast<int>(spec.length), static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, ms_of(rank.aged_from), rank.due, rank.size, ms_of(time), decision.keeps_digest ? 1 : 0);
  release_waiting(database);
}

Result<void> SqliteStore::set_length(const LeaseKey& key, Seconds audio, LengthSource source) {
  return transact([&](Database& database) {
    const auto held = held_job(database, key);
    if (!held || held->spec.length > source) return;
    JobSpec spec = held->spec;
    spec.audio = audio;
    const ClaimRank rank = claim_rank(spec, held->submitted);
    database.run("UPDATE tasks SET audio = ?2, length = ?3, due = ?4, size = ?5 WHERE id = ?1", key.job, audio.count(),
                 static_cast<int>(source), rank.due, rank.size);
  });
}

// ---- claiming it, and keeping the claim

std::vector<JobId> SqliteStore::claimable(Database& database, const ClaimRequest& request, std::size_t most) const {
  std::vector<JobId> found;
  for (const JobId named : request.jobs) {
    if (found.size() == most) break;
    const auto job = job_with_id(database, named);
    if (job && is_claimable(*job, request, now())) found.push_back(named);
  }
  if (!request.jobs.empty()) return found;
  // is_claimable as a query. A statement for each form, so that each has its index: a batch of one job is found beside
  // one of a hundred thousand.
  const std::string batch = request.batch.empty() ? "?2 = ''" : "batch = ?2";
  database.rows(
      "SELECT id FROM tasks WHERE state = 'queued' AND not_before <= ?1 AND waits_for = 0 AND " + batch +
          " AND (?3 = '' OR failed_on <> ?3) AND class <= ?4 "
          "ORDER BY class, aged_from, due, size, submitted, id LIMIT ?5",
      [&](const ResultRow& row) { found.push_back(row.number(0)); }, ms_of(now()), request.batch, request.not_failed_on,
      static_cast<int>(request.most), static_cast<std::int64_t>(most));
  return found;
}

Lease SqliteStore::claim_one(Database& database, JobId job, const ClaimRequest& request, StoreTime time) const {
  Lease lease;
  lease.key = {job, random_token()};
  lease.until = time + request.length;
  const std::string update =
      "UPDATE tasks SET state = 'running', attempts = attempts + 1, progress = 0, device = ?2, owner = ?3, "
      "lease_token = ?4, lease_until = ?5 WHERE id = ?1 RETURNING " +
      kJobColumns;
  database.rows(
      update, [&](const ResultRow& row) { lease.job = job_in(row); }, job, request.device, owner_.name(),
      lease.key.token, ms_of(lease.until));
  lease.attempt = lease.job.attempts;
  database.run("INSERT INTO attempts(task, number, token, device, owner, started) VALUES(?1, ?2, ?3, ?4, ?5, ?6)", job,
               lease.attempt, lease.key.token, request.device, owner_.name(), ms_of(time));
  if (const JobId twin = twin_of(database, job, lease.job.sha256, lease.job.spec.options, JobState::done))
    lease.same_outputs = outputs_of(database, twin);
  return lease;
}

Result<std::vector<Lease>> SqliteStore::claim(const ClaimRequest& request, std::size_t most) {
  return transact([&](Database& database) {
    std::vector<Lease> leases;
    for (const JobId job : claimable(database, request, most))
      leases.push_back(claim_one(database, job, request, now()));
    return leases;
  });
}

Result<std::vector<LeaseStanding>> SqliteStore::renew(std::span<const Renewal> renewals) {
  return transact([&](Database& database) {
    std::vector<LeaseStanding> standings;
    standings.reserve(renewals.size());
    for (const auto& renewal : renewals) {
      bool holds = false, cancel = false;
      database.rows(
          "UPDATE tasks SET lease_until = ?3, progress = ?4 WHERE id = ?1 AND lease_token = ?2 AND state = 'running' "
          "RETURNING cancel_wished",
          [&](const ResultRow& row) {
            holds = true;
            cancel = row.count(0) != 0;
          },
          renewal.key.job, renewal.key.token, ms_of(now() + renewal.length), renewal.progress);
      standings.push_back(standing_of(holds, cancel));
    }
    return standings;
  });
}

Result<ContentCheck> SqliteStore::content_known(const LeaseKey& key, const std::string& sha256) {
  return transact([&](Database& database) -> ContentCheck {
    if (!held_job(database, key)) return {.what = ContentCheck::What::lost};
    std::string options, offered;
    database.rows(
        "UPDATE tasks SET sha256 = ?2 WHERE id = ?1 RETURNING options, old_sha256",
        [&](const ResultRow& row) {
          options = row.text(0);
          offered = row.text(1);
        },
        key.job, sha256);
    const Twins twins{.done = twin_of(database, key.job, sha256, options, JobState::done),
                      .running = twin_of(database, key.job, sha256, options, JobState::running)};
    ContentCheck check = decide_content(key.job, sha256, offered, twins);
    if (check.what == ContentCheck::What::copy) check.same_outputs = outputs_of(database, check.same_as);
    if (check.what == ContentCheck::What::copy && check.same_as != key.job)
      database.run("UPDATE tasks SET same_as = ?2 WHERE id = ?1", key.job, check.same_as);
    if (check.what != ContentCheck::What::wait) return check;
    undo_attempt(database, key, "waits for a job with the same content");  // to have found that out was no attempt
    database.run("UPDATE tasks SET same_as = ?2, waits_for = ?2 WHERE id = ?1 AND state = 'queued'", key.job,
                 check.same_as);
    return check;
  });
}

// ---- ending an attempt

void SqliteStore::end_attempt(Database& database, JobId job, AttemptEnd end, std::string_view failure,
                              const std::string& error, const AttemptUse& use) const {
  database.run(
      "UPDATE attempts SET end = ?2, failure = ?3, error = ?4, ended = ?5, device = iif(?6 = '', device, ?6), "
      "audio = ?7, busy = ?8 WHERE task = ?1 AND end = 'running'",
      job, name_of(end), failure, error, ms_of(now()), use.device, use.audio.count(), use.busy.count());
}

Result<bool> SqliteStore::complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) {
  return transact([&](Database& database) {
    const auto held = held_job(database, key);
    if (!held) return false;
    if (held->cancel_requested) {
      release(database, key.job, AttemptEnd::handed_back, "cancelled");
      return false;
    }
    database.run(
        "UPDATE tasks SET state = 'done', progress = 1, error = '', lease_token = '', owner = '', "
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

AfterFailure SqliteStore::settle_failure(Database& database, const Job& job, FailureClass kind, AttemptEnd end,
                                         const std::string& error, const AttemptUse& use) const {
  const auto [after, wait] = after_failure(job, kind, use.device, now(), random_fraction(), options_.retries);
  database.run(
      "UPDATE tasks SET state = ?2, strikes = ?3, device_failures = ?4, memory_failures = ?5, not_before = ?6, "
      "error = ?7, failed_on = ?8, lease_token = '', owner = '', cancel_wished = ?9, progress = ?10 WHERE id = ?1",
      job.id, name_of(after.state), after.strikes, after.device_failures, after.memory_failures,
      ms_of(after.not_before), error, after.failed_on, after.cancel_requested ? 1 : 0, after.progress);
  end_attempt(database, job.id, end, name_of(kind), error, use);
  release_waiting(database);
  return {.state = after.state, .wait = wait};
}

Result<AfterFailure> SqliteStore::fail(const LeaseKey& key, const Failure& failure) {
  return transact([&](Database& database) -> AfterFailure {
    const auto held = held_job(database, key);
    if (!held) return {.held = false};
    return settle_failure(database, *held, failure.kind, AttemptEnd::failed, failure.reason, failure.use);
  });
}

/// Returns whether the job was at work.
bool SqliteStore::release(Database& database, JobId id, AttemptEnd end, const std::string& reason) const {
  const auto job = job_with_id(database, id);
  if (!job || job->state != JobState::running) return false;
  const Job after = after_release(*job);
  database.run(
      "UPDATE tasks SET state = ?2, cancel_wished = ?3, lease_token = '', owner = '', progress = ?4 WHERE id = ?1", id,
      name_of(after.state), after.cancel_requested ? 1 : 0, after.progress);
  end_attempt(database, id, end, "", reason, {});
  release_waiting(database);
  return true;
}

Result<bool> SqliteStore::release(const LeaseKey& key, const std::string& reason) {
  return transact([&](Database& database) {
    return held_job(database, key) && release(database, key.job, AttemptEnd::handed_back, reason);
  });
}

void SqliteStore::undo_attempt(Database& database, const LeaseKey& key, const std::string& reason) const {
  database.run("DELETE FROM attempts WHERE task = ?1 AND token = ?2", key.job, key.token);
  database.run("UPDATE tasks SET attempts = attempts - 1 WHERE id = ?1", key.job);
  release(database, key.job, AttemptEnd::handed_back, reason);
}

Result<bool> SqliteStore::undo_claim(const LeaseKey& key) {
  return transact([&](Database& database) {
    const bool holds = held_job(database, key).has_value();
    if (holds) undo_attempt(database, key, "not begun");
    return holds;
  });
}

Result<bool> SqliteStore::cancelled(const LeaseKey& key) {
  return transact([&](Database& database) {
    if (!held_job(database, key)) return false;
    database.run("UPDATE tasks SET cancel_wished = 1 WHERE id = ?1", key.job);
    return release(database, key.job, AttemptEnd::handed_back, "cancelled");
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
      const bool has_gone = OwnerLock::has_gone(options_.url.folder() / "owners", at_work.owner);
      (has_gone ? gone : alive).insert(at_work.owner);
    }
    std::size_t reaped = 0;
    for (const auto& at_work : running) {
      const auto end = reaped_as(gone.contains(at_work.owner), at_work.expired);
      if (end && reap_one(database, at_work.job, *end)) ++reaped;
    }
    release_waiting(database);  // stores of earlier versions have some that wait for a job that is not worked on
    return reaped;
  });
}

bool SqliteStore::reap_one(Database& database, JobId id, AttemptEnd end) const {
  if (end == AttemptEnd::orphaned) return release(database, id, end, "its tutti process ended");
  const auto job = job_with_id(database, id);
  if (job) settle_failure(database, *job, FailureClass::crash, end, "the lease ran out", {});
  return job.has_value();
}

}  // namespace tutti
