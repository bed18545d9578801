#include <algorithm>
#include <map>

#include "base/random/kernel_random.h"
#include "jobs/job_rules.h"
#include "jobs/postgres/postgres_store.h"
#include "jobs/postgres/rows.h"
#include "jobs/postgres/schema.h"

namespace tutti {

using namespace postgres;

namespace {

/// Which rows a claim locks, is_claimable as a condition: $1 to $6 are time, batch, device left out, class, jobs, and
/// how many at most. Rows that another transaction is about to claim are passed over; a single named one is waited for.
std::string picked_by(const ClaimRequest& request) {
  const bool is_named = !request.jobs.empty();
  return std::string("SELECT id FROM tutti_jobs_hot ") +
         (is_named ? "JOIN unnest($5::bigint[]) WITH ORDINALITY AS named(id, turn) USING (id) " : "") +
         "WHERE state = 'queued' AND not_before <= $1::bigint AND waits_for = 0 AND " +
         (request.batch.empty() ? "$2::text = ''" : "batch = $2::text") +
         " AND ($3::text = '' OR failed_on <> $3::text) AND class <= $4::integer " +
         (is_named ? "ORDER BY turn "
                   : "AND $5::bigint[] IS NOT NULL ORDER BY class, aged_from, due, size, submitted, id ") +
         "LIMIT $6::bigint FOR UPDATE OF tutti_jobs_hot" + (request.jobs.size() == 1 ? "" : " SKIP LOCKED");
}

}  // namespace

// ---- claiming it, and keeping the claim

void PostgresStore::ensure_months(Transaction& transaction) {
  const int next = month_after(month_of(transaction.time()));
  if (ensured_ >= next) return;
  const auto made = make_months(transaction.connection(), transaction.time());
  if (!made) throw StatementError{made.error()};
  if (!*made) ensured_ = next;  // what this transaction made is not there for certain yet
}

int PostgresStore::ending_month(Transaction& transaction) {
  ensure_months(transaction);
  return month_of(transaction.time());
}

void PostgresStore::beat(Transaction& transaction) const {
  transaction.run(
      "INSERT INTO tutti_owners(name, seen) VALUES($1, $2) ON CONFLICT(name) DO UPDATE SET seen = excluded.seen",
      owner_, ms_of(transaction.time()));
}

Result<std::vector<Lease>> PostgresStore::claim(const ClaimRequest& request, std::size_t most) {
  const std::string statement =
      "WITH picked AS (" + picked_by(request) +
      "), numbered AS (SELECT id AS picked_id, row_number() OVER () AS turn FROM picked), "
      "claimed AS (UPDATE tutti_jobs_hot SET state = 'running', attempts = attempts + 1, progress = 0, "
      "device = $7, owner = $8, lease_token = ($9::text[])[turn], lease_from = $1::bigint, lease_until = $10 "
      "FROM numbered WHERE id = picked_id RETURNING tutti_jobs_hot.*, turn), "
      "attempt AS (INSERT INTO tutti_attempts(job, number, token, device, owner, started) "
      "SELECT id, attempts, lease_token, device, owner, lease_from FROM claimed) "
      "SELECT " +
      kJobColumns + ", lease_token FROM claimed ORDER BY turn";
  const auto work = [&](Transaction& transaction) {
    std::vector<Lease> leases;
    std::vector<std::string> tokens(most);
    std::ranges::generate(tokens, [] { return random_token(); });
    const StoreTime until = transaction.time() + request.length;
    transaction.rows(
        statement,
        [&](const Row& row) {
          Lease& lease = leases.emplace_back(Lease{.job = job_in(row), .until = until});
          lease.key = {lease.job.id, row.text(kJobColumnCount)};
          lease.attempt = lease.job.attempts;
        },
        ms_of(transaction.time()), request.batch, request.not_failed_on, static_cast<int>(request.most),
        numbers_of(request.jobs), static_cast<std::int64_t>(most), request.device, owner_, texts_of(tokens),
        ms_of(until));
    if (!leases.empty() && !is_registered_) beat(transaction);
    for (Lease& lease : leases)
      if (const JobId twin = done_twin(transaction, lease.job.id, lease.job.sha256, lease.job.spec.options))
        lease.same_outputs = outputs_of(transaction, twin);
    return leases;
  };
  // The first claim registers the owner as well. Without that row, others would take the later claims of this process
  // back.
  auto claimed = is_registered_ ? transactions_.change_soon(work) : transactions_.change(work);
  if (claimed && !claimed->empty()) is_registered_ = true;
  return claimed;
}

Result<std::vector<LeaseStanding>> PostgresStore::renew(std::span<const Renewal> renewals) {
  if (renewals.empty() && !is_registered_) return std::vector<LeaseStanding>{};
  return transactions_.change_soon([&](Transaction& transaction) {
    std::map<std::string, bool> cancelled;  // by token, of those that are held
    if (is_registered_) beat(transaction);
    if (!renewals.empty())
      transaction.rows(
          "UPDATE tutti_jobs_hot AS job SET lease_from = $1, lease_until = $1 + r.length, progress = r.progress "
          "FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::float8[]) AS r(id, token, length, progress) "
          "WHERE job.id = r.id AND job.lease_token = r.token AND job.state = 'running' "
          "RETURNING job.lease_token, job.cancel_requested",
          [&](const Row& row) { cancelled[row.text(0)] = row.is_true(1); }, ms_of(transaction.time()),
          Array{array_of(renewals, [](const Renewal& each) { return Argument(std::to_string(each.key.job)); })},
          Array{array_of(renewals, [](const Renewal& each) { return Argument(as_utf8(each.key.token)); })},
          Array{array_of(renewals, [](const Renewal& each) { return Argument(std::to_string(each.length.count())); })},
          Array{array_of(renewals, [](const Renewal& each) { return Argument(number_text(each.progress)); })});
    std::vector<LeaseStanding> standings;
    standings.reserve(renewals.size());
    for (const auto& renewal : renewals) {
      const auto held = cancelled.find(renewal.key.token);
      standings.push_back(standing_of(held != cancelled.end(), held != cancelled.end() && held->second));
    }
    return standings;
  });
}

Result<ContentCheck> PostgresStore::content_known(const LeaseKey& key, const std::string& sha256) {
  return transactions_.change([&](Transaction& transaction) -> ContentCheck {
    // Of two jobs with one content the second one is to see that the first one is at work on it.
    transaction.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 7504384))", sha256);
    const auto held = held_job(transaction, key);
    if (!held) return {.what = ContentCheck::What::lost};
    std::string offered;
    transaction.rows(
        "UPDATE tutti_jobs_hot SET sha256 = $2 WHERE id = $1 RETURNING old_sha256",
        [&](const Row& row) { offered = row.text(0); }, key.job, sha256);
    const std::string& options = held->spec.options;
    const Twins twins{.done = done_twin(transaction, key.job, sha256, options),
                      .running = running_twin(transaction, key.job, sha256, options)};
    ContentCheck check = decide_content(key.job, sha256, offered, twins);
    if (check.what == ContentCheck::What::copy) check.same_outputs = outputs_of(transaction, check.same_as);
    if (check.what == ContentCheck::What::copy && check.same_as != key.job)
      transaction.run("UPDATE tutti_jobs_hot SET same_as = $2 WHERE id = $1", key.job, check.same_as);
    if (check.what != ContentCheck::What::wait) return check;
    // To have found that out was no attempt at it.
    undo_attempt(transaction, *held, key, "waits for a job with the same content");
    transaction.run("UPDATE tutti_jobs_hot SET same_as = $2, waits_for = $2 WHERE id = $1 AND state = 'queued'",
                    key.job, check.same_as);
    return check;
  });
}

// ---- ending an attempt

Result<bool> PostgresStore::complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) {
  return transactions_.change([&](Transaction& transaction) {
    const auto held = held_job(transaction, key);
    if (!held) return false;
    if (held->cancel_requested) {
      release(transaction, *held, AttemptEnd::handed_back, "cancelled");
      return false;
    }
    transaction.run(
        "UPDATE tutti_jobs SET month = $2, state = 'done', progress = 1, error = '', lease_token = '', owner = '', "
        "published = $3, device = CASE WHEN $4::text = '' THEN device ELSE $4::text END WHERE id = $1 AND month = 0",
        key.job, ending_month(transaction), outputs.empty(), use.device);
    drop_results(transaction, key.job);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      transaction.run(
          "INSERT INTO tutti_results(job, number, path, staged, sha256, bytes, modified_ns, kept) "
          "VALUES($1, $2, $3, $4, $5, $6, $7, $8)",
          key.job, static_cast<std::int64_t>(i), outputs[i].path, outputs[i].staged, outputs[i].sha256,
          outputs[i].bytes, outputs[i].modified_ns, outputs[i].kept);
    end_attempt(transaction, key.job, AttemptEnd::done, "", "", use);
    release_waiting(transaction);
    return true;
  });
}

AfterFailure PostgresStore::settle_failure(Transaction& transaction, const Job& job, FailureClass kind, AttemptEnd end,
                                           const std::string& error, const AttemptUse& use) {
  const auto [after, wait] = after_failure(job, kind, use.device, transaction.time(), random_fraction(), retries_);
  transaction.run(
      "UPDATE tutti_jobs SET month = $11, state = $2, strikes = $3, device_failures = $4, memory_failures = $5, "
      "not_before = $6, error = $7, failed_on = $8, lease_token = '', owner = '', cancel_requested = $9, progress = "
      "$10 "
      "WHERE id = $1 AND month = 0",
      job.id, name_of(after.state), after.strikes, after.device_failures, after.memory_failures,
      ms_of(after.not_before), error, after.failed_on, after.cancel_requested, after.progress,
      is_final(after.state) ? ending_month(transaction) : 0);
  end_attempt(transaction, job.id, end, name_of(kind), error, use);
  release_waiting(transaction);
  return {.state = after.state, .wait = wait};
}

Result<AfterFailure> PostgresStore::fail(const LeaseKey& key, const Failure& failure) {
  return transactions_.change([&](Transaction& transaction) -> AfterFailure {
    const auto held = held_job(transaction, key);
    if (!held) return {.held = false};
    return settle_failure(transaction, *held, failure.kind, AttemptEnd::failed, failure.reason, failure.use);
  });
}

void PostgresStore::release(Transaction& transaction, const Job& job, AttemptEnd end, const std::string& reason) {
  const Job after = after_release(job);
  transaction.run(
      "UPDATE tutti_jobs SET month = $5, state = $2, cancel_requested = $3, lease_token = '', owner = '', progress = "
      "$4 "
      "WHERE id = $1 AND month = 0",
      job.id, name_of(after.state), after.cancel_requested, after.progress,
      is_final(after.state) ? ending_month(transaction) : 0);
  end_attempt(transaction, job.id, end, "", reason, {});
  release_waiting(transaction);
}

Result<bool> PostgresStore::release(const LeaseKey& key, const std::string& reason) {
  return transactions_.change([&](Transaction& transaction) {
    const auto held = held_job(transaction, key);
    if (held) release(transaction, *held, AttemptEnd::handed_back, reason);
    return held.has_value();
  });
}

void PostgresStore::undo_attempt(Transaction& transaction, const Job& job, const LeaseKey& key,
                                 const std::string& reason) {
  transaction.run("DELETE FROM tutti_attempts WHERE job = $1 AND token = $2", key.job, key.token);
  transaction.run("UPDATE tutti_jobs_hot SET attempts = attempts - 1 WHERE id = $1", key.job);
  release(transaction, job, AttemptEnd::handed_back, reason);
}

Result<bool> PostgresStore::undo_claim(const LeaseKey& key) {
  return transactions_.change([&](Transaction& transaction) {
    const auto held = held_job(transaction, key);
    if (held) undo_attempt(transaction, *held, key, "not begun");
    return held.has_value();
  });
}

Result<bool> PostgresStore::cancelled(const LeaseKey& key) {
  return transactions_.change([&](Transaction& transaction) {
    auto held = held_job(transaction, key);
    if (!held) return false;
    held->cancel_requested = true;
    release(transaction, *held, AttemptEnd::handed_back, "cancelled");
    return true;
  });
}

// ---- taking back

void PostgresStore::follow_clock(Transaction& transaction) {
  constexpr std::int64_t kNoise = 1000;  // ms, of transactions that overtake each other
  const std::int64_t now = ms_of(transaction.time());
  std::int64_t latest = now;
  transaction.rows("SELECT value FROM tutti_meta WHERE name = 'latest'",
                   [&](const Row& row) { latest = row.number(0); });
  if (now <= latest + kNoise && now >= latest - kNoise) return;
  // Of the processes that notice it the first one acts.
  const auto changed = transaction.run(
      "UPDATE tutti_meta SET value = $1 WHERE name = (SELECT name FROM tutti_meta "
      "WHERE name = 'latest' AND value = $2 FOR UPDATE SKIP LOCKED)",
      now, latest);
  if (changed == 0 || now > latest) return;
  for (const char* ahead :
       {"UPDATE tutti_owners SET seen = seen - $2 WHERE seen > $1",
        "UPDATE tutti_runs SET seen = seen - $2 WHERE seen > $1 AND ended IS NULL",
        "UPDATE tutti_jobs_hot SET not_before = not_before - $2 WHERE state = 'queued' AND not_before > $1",
        "UPDATE tutti_jobs_hot SET lease_from = lease_from - $2, lease_until = lease_until - $2 "
        "WHERE state = 'running' AND lease_from > $1"})
    transaction.run(ahead, now, latest - now);
}

Result<std::size_t> PostgresStore::reap() {
  return transactions_.change([&](Transaction& transaction) {
    follow_clock(transaction);
    if (is_registered_) beat(transaction);
    ensure_months(transaction);
    // An owner has gone that is not listed any more, or that recorded nothing after it renewed this lease: an active
    // process records something twice in the time of a lease, in renew and here.
    struct Found {
      Job job;
      bool has_gone, is_over;
    };
    std::vector<Found> found;
    transaction.rows(
        "SELECT " + kJobColumns +
            ", owner <> $2 AND (seen IS NULL OR seen < lease_from + (lease_until - lease_from) / 2), "
            "lease_until < $1::bigint FROM tutti_jobs_hot "
            "LEFT JOIN (SELECT name AS owner_name, seen FROM tutti_owners) AS owners ON owner_name = owner "
            "WHERE state = 'running' AND (lease_until < $1::bigint OR (seen IS NULL AND owner <> $2)) "
            "FOR UPDATE OF tutti_jobs_hot SKIP LOCKED",
        [&](const Row& row) {
          found.push_back({job_in(row), row.is_true(kJobColumnCount), row.is_true(kJobColumnCount + 1)});
        },
        ms_of(transaction.time()), owner_);
    std::size_t taken = 0;
    for (const auto& [job, has_gone, is_over] : found) {
      const auto end = reaped_as(has_gone, is_over);
      if (!end) continue;
      ++taken;
      if (*end == AttemptEnd::orphaned)
        release(transaction, job, *end, "its tutti process ended");
      else
        settle_failure(transaction, job, FailureClass::crash, *end, "the lease ran out", {});
    }
    if (found.empty()) release_waiting(transaction);
    constexpr std::chrono::milliseconds kKeptFor = std::chrono::days(7);
    for (const char* old : {"DELETE FROM tutti_owners WHERE seen < $1", "DELETE FROM tutti_marks WHERE at < $1"})
      transaction.run(old, ms_of(transaction.time() - kKeptFor));
    return taken;
  });
}

}  // namespace tutti
