#include <cstdlib>
#include <set>

#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/sqlite_store.h"

namespace tutti {
namespace {

/// Whether the lease is still this holder's.
bool is_held(Database& database, const LeaseKey& key) {
  bool held = false;
  database.rows(
      "SELECT 1 FROM tasks WHERE id = ?1 AND lease_token = ?2 AND state = 'running'",
      [&](const ResultRow&) { held = true; }, key.job, key.token);
  return held;
}

}  // namespace

// ---- requesting work

namespace {

struct Known {
  JobId id = 0;
  std::string state{};
  InputIdentity identity{};
  std::string input{};
  std::string options{};
  std::string sha256{};
  std::optional<Seconds> audio{};
  StoreTime submitted{};
};

/// What a row keeps of a request as numbers.
struct Numbers {
  ClaimOrder order{};
  std::optional<double> audio{};
  std::optional<std::int64_t> deadline{};
};

Numbers numbers_of(const JobSpec& spec) {
  Numbers numbers{.order = claim_order(spec)};
  if (spec.audio) numbers.audio = spec.audio->count();
  if (spec.deadline) numbers.deadline = ms_of(*spec.deadline);
  return numbers;
}

Known find_key(Database& database, const std::string& key) {
  Known known;
  database.rows(
      "SELECT id, state, bytes, modified_ns, input, options, sha256, audio, submitted FROM tasks WHERE key = ?1",
      [&](const ResultRow& row) {
        known = {row.number(0), row.text(1), {row.number(2), row.number(3)}, row.text(4), row.text(5), row.text(6)};
        if (row.has(7)) known.audio = Seconds(row.real(7));
        known.submitted = time_of(row.number(8));
      },
      key);
  return known;
}

/// The same work: its name and urgency are those of the latest request.
void keep_version(Database& database, RunId run, const Known& known, JobSpec spec) {
  spec.audio = known.audio;
  const auto [order, audio, deadline] = numbers_of(spec);
  database.run(
      "UPDATE tasks SET run = ?2, batch = ?3, class = ?4, priority = ?5, deadline = ?6, uuid = ?7, name = ?8, "
      "extra = ?9, aged_from = ?10, due = ?11, size = ?12 WHERE id = ?1",
      known.id, run, spec.batch, static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, aged_from(known.submitted, spec.priority), order.due, order.size);
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
  const Known known = find_key(database, spec.key);
  if (known.id != 0) {
    const bool same_input = known.input == spec.input && is_unchanged(known.identity, spec.identity);
    if (same_input && known.options == spec.options) {
      keep_version(database, run, known, spec);
      return {known.id, Submitted::What::kept, job_state_named(known.state).value_or(JobState::queued),
              known.submitted};
    }
    renew_version(database, run, known.id, spec, same_input, time);
    const bool was_done = known.state == name_of(JobState::done);
    if (was_done && known.options == spec.options)
      database.run("UPDATE tasks SET old_sha256 = ?2 WHERE id = ?1", known.id, known.sha256);
    else
      drop_results(database, known.id);
    return {known.id, Submitted::What::renewed, JobState::queued, time,
            was_done && known.input != spec.input ? known.input : ""};
  }
  const auto [order, audio, deadline] = numbers_of(spec);
  database.run(
      "INSERT INTO tasks(key, batch, run, input, bytes, modified_ns, options, audio, length, class, priority, "
      "deadline, "
      "uuid, name, extra, aged_from, due, size, state, submitted) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 'queued', ?19)",
      spec.key, spec.batch, run, spec.input, spec.identity.bytes, spec.identity.modified_ns, spec.options, audio,
      static_cast<int>(spec.length), static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, aged_from(time, spec.priority), order.due, order.size, ms_of(time));
  return {database.last_id(), Submitted::What::added, JobState::queued, time};
}

/// A row keeps its id and its attempts; everything known of the old version goes. A worker on it is fenced off.
void SqliteStore::renew_version(Database& database, RunId run, JobId job, const JobSpec& spec, bool same_input,
                                StoreTime time) const {
  const auto [order, audio, deadline] = numbers_of(spec);
  end_attempt(database, job, AttemptEnd::handed_back, "", "the input or the options changed", {});
  database.run(
      "UPDATE tasks SET batch = ?2, run = ?3, input = ?4, bytes = ?5, modified_ns = ?6, options = ?7, audio = ?8, "
      "length = ?9, class = ?10, priority = ?11, deadline = ?12, uuid = ?13, name = ?14, extra = ?15, aged_from = ?16, "
      "due = ?17, size = ?18, submitted = ?19, state = 'queued', strikes = 0, device_failures = 0, memory_failures = "
      "0, "
      "progress = 0, sha256 = iif(?20, sha256, ''), old_sha256 = '', same_as = 0, waits_for = 0, not_before = 0, "
      "cancel_wished = 0, "
      "owner = '', failed_on = '', lease_token = '', error = '', published = 0 WHERE id = ?1",
      job, spec.batch, run, spec.input, spec.identity.bytes, spec.identity.modified_ns, spec.options, audio,
      static_cast<int>(spec.length), static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, aged_from(time, spec.priority), order.due, order.size, ms_of(time), same_input ? 1 : 0);
  release_waiting(database);
}

Result<void> SqliteStore::set_length(const LeaseKey& key, Seconds audio, LengthSource source) {
  return transact([&](Database& database) {
    if (!is_held(database, key)) return;
    std::optional<JobSpec> spec;
    const std::string select = "SELECT " + std::string(kJobColumns) + " FROM tasks WHERE id = ?1";
    database.rows(
        select, [&](const ResultRow& row) { spec = job_in(row).spec; }, key.job);
    if (!spec || spec->length > source) return;
    spec->audio = audio;
    const ClaimOrder order = claim_order(*spec);
    database.run("UPDATE tasks SET audio = ?2, length = ?3, due = ?4, size = ?5 WHERE id = ?1", key.job, audio.count(),
                 static_cast<int>(source), order.due, order.size);
  });
}

// ---- claiming it, and keeping the claim

JobId SqliteStore::first_claimable(Database& database, const ClaimRequest& request) const {
  JobId found = 0;
  const auto take = [&](const ResultRow& row) { found = row.number(0); };
  // A statement for each form, so that each has its index: a batch of one job is found beside one of a hundred
  // thousand.
  const std::string batch = request.batch.empty() ? "?2 = ''" : "batch = ?2";
  const std::string claimable =
      "SELECT id FROM tasks WHERE state = 'queued' AND not_before <= ?1 AND waits_for = 0 AND " + batch +
      " AND (?3 = '' OR failed_on <> ?3) AND class <= ?4 ";
  const std::int64_t time = ms_of(now());
  const int most = static_cast<int>(request.most);
  if (request.job)
    database.rows(claimable + "AND id = ?5", take, time, request.batch, request.not_failed_on, most, *request.job);
  else
    database.rows(claimable + "ORDER BY class, aged_from, due, size, submitted, id LIMIT 1", take, time, request.batch,
                  request.not_failed_on, most);
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
    release(database, key.job, AttemptEnd::handed_back, "waits for a job with the same content");
    database.run("UPDATE tasks SET same_as = ?2, waits_for = ?2 WHERE id = ?1 AND state = 'queued'", key.job, at_work);
    return {ContentCheck::What::wait, at_work, {}};
  });
}

// ---- ending an attempt

namespace {

/// In [0, 1), for the jitter of waits.
double dice() {
  return static_cast<double>(std::stoul(random_token().substr(0, 8), nullptr, 16)) / 4294967296.0;
}

}  // namespace

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
    bool cancel = false;
    database.rows(
        "SELECT cancel_wished FROM tasks WHERE id = ?1", [&](const ResultRow& row) { cancel = row.count(0) != 0; },
        key.job);
    if (cancel) {
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
bool SqliteStore::release(Database& database, JobId job, AttemptEnd end, const std::string& reason) const {
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
    return is_held(database, key) && release(database, key.job, AttemptEnd::handed_back, reason);
  });
}

Result<bool> SqliteStore::cancelled(const LeaseKey& key) {
  return transact([&](Database& database) {
    if (!is_held(database, key)) return false;
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
  if (orphaned) return release(database, job, AttemptEnd::orphaned, "its tutti process ended") ? 1 : 0;
  settle_failure(database, job, FailureClass::crash, AttemptEnd::expired, "the lease ran out", {});
  return 1;
}

}  // namespace tutti
