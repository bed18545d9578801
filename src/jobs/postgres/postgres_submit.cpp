#include <map>
#include <set>

#include "jobs/job_rules.h"
#include "jobs/postgres/postgres_store.h"
#include "jobs/postgres/rows.h"

namespace tutti {

using namespace postgres;

namespace {

/// A job as its latest request has it.
struct Requested {
  JobId id = 0;
  JobSpec spec{};
  ClaimRank rank{};
};

Argument number(std::int64_t value) {
  return std::to_string(value);
}

template <class Write>
Array column(const std::vector<Requested>& jobs, Write write) {
  return {array_of(jobs, write)};
}
Array texts(const std::vector<Requested>& jobs, std::string JobSpec::*field) {
  return column(jobs, [field](const Requested& job) { return Argument(as_utf8(job.spec.*field)); });
}

// The columns of a request, each as an array.
Array ids(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return number(job.id); });
}
Array lengths(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) {
    return job.spec.audio ? Argument(number_text(job.spec.audio->count())) : Argument();
  });
}
Array classes(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return number(static_cast<int>(job.spec.job_class)); });
}
Array priorities(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return number(job.spec.priority); });
}
Array deadlines(const std::vector<Requested>& jobs) {
  return column(
      jobs, [](const Requested& job) { return job.spec.deadline ? number(ms_of(*job.spec.deadline)) : Argument(); });
}
Array aged_froms(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return number(ms_of(job.rank.aged_from)); });
}
Array dues(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return number(job.rank.due); });
}
Array sizes(const std::vector<Requested>& jobs) {
  return column(jobs, [](const Requested& job) { return Argument(number_text(job.rank.size)); });
}

void insert(Transaction& transaction, RunId run, std::vector<Requested>& jobs) {
  if (jobs.empty()) return;
  std::set<JobId> drawn;  // in their order, which is that of the request
  transaction.rows(
      "SELECT nextval('tutti_job_ids') FROM generate_series(1, $1::bigint)",
      [&](const Row& row) { drawn.insert(row.number(0)); }, static_cast<std::int64_t>(jobs.size()));
  auto id = drawn.begin();
  for (auto& job : jobs) job.id = *id++;
  transaction.run(
      "INSERT INTO tutti_jobs_hot(month, id, key, batch, run, input, bytes, modified_ns, options, audio, length, "
      "class, "
      "priority, deadline, uuid, name, extra, aged_from, due, size, state, submitted) "
      "SELECT 0, id, key, batch, $1::bigint, input, bytes, modified_ns, options, audio, length, class, priority, "
      "deadline, uuid, name, extra, aged_from, due, size, 'queued', $2::bigint "
      "FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], "
      "$10::float8[], $11::integer[], $12::integer[], $13::integer[], $14::bigint[], $15::text[], $16::text[], "
      "$17::text[], $18::bigint[], $19::bigint[], $20::float8[]) AS r(id, key, batch, input, bytes, modified_ns, "
      "options, audio, length, class, priority, deadline, uuid, name, extra, aged_from, due, size)",
      run, ms_of(transaction.time()), ids(jobs), texts(jobs, &JobSpec::key), texts(jobs, &JobSpec::batch),
      texts(jobs, &JobSpec::input), column(jobs, [](const Requested& job) { return number(job.spec.identity.bytes); }),
      column(jobs, [](const Requested& job) { return number(job.spec.identity.modified_ns); }),
      texts(jobs, &JobSpec::options), lengths(jobs),
      column(jobs, [](const Requested& job) { return number(static_cast<int>(job.spec.length)); }), classes(jobs),
      priorities(jobs), deadlines(jobs), texts(jobs, &JobSpec::uuid), texts(jobs, &JobSpec::name),
      texts(jobs, &JobSpec::extra), aged_froms(jobs), dues(jobs), sizes(jobs));
}

void keep_versions(Transaction& transaction, RunId run, const std::vector<Requested>& jobs) {
  if (jobs.empty()) return;
  transaction.run(
      "UPDATE tutti_jobs AS job SET run = $1, batch = r.batch, class = r.class, priority = r.priority, "
      "deadline = r.deadline, uuid = r.uuid, name = r.name, extra = r.extra, aged_from = r.aged_from, due = r.due, "
      "size = r.size FROM unnest($2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::bigint[], $7::text[], "
      "$8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::float8[]) AS r(id, batch, class, priority, deadline, "
      "uuid, name, extra, aged_from, due, size) WHERE job.id = r.id",
      run, ids(jobs), texts(jobs, &JobSpec::batch), classes(jobs), priorities(jobs), deadlines(jobs),
      texts(jobs, &JobSpec::uuid), texts(jobs, &JobSpec::name), texts(jobs, &JobSpec::extra), aged_froms(jobs),
      dues(jobs), sizes(jobs));
}

/// A row keeps its id and its attempts; everything known of the old version goes. A worker on it is fenced off.
void renew_version(Transaction& transaction, RunId run, const Job& known, const RequestDecision& decision) {
  const JobSpec& spec = decision.spec;
  const ClaimRank rank = claim_rank(spec, transaction.time());
  end_attempt(transaction, known.id, AttemptEnd::handed_back, "", "the input or the options changed", {});
  std::optional<double> audio;
  if (spec.audio) audio = spec.audio->count();
  std::optional<std::int64_t> deadline;
  if (spec.deadline) deadline = ms_of(*spec.deadline);
  transaction.run(
      "UPDATE tutti_jobs SET month = 0, batch = $2, run = $3, input = $4, bytes = $5, modified_ns = $6, options = $7, "
      "audio = $8, length = $9, class = $10, priority = $11, deadline = $12, uuid = $13, name = $14, extra = $15, "
      "aged_from = $16, due = $17, size = $18, submitted = $19, state = 'queued', strikes = 0, device_failures = 0, "
      "memory_failures = 0, progress = 0, sha256 = CASE WHEN $20::boolean THEN sha256 ELSE '' END, old_sha256 = $21, "
      "same_as = 0, waits_for = 0, not_before = 0, cancel_requested = false, owner = '', failed_on = '', "
      "lease_token = '', error = '', published = false WHERE id = $1",
      known.id, spec.batch, run, spec.input, spec.identity.bytes, spec.identity.modified_ns, spec.options, audio,
      static_cast<int>(spec.length), static_cast<int>(spec.job_class), spec.priority, deadline, spec.uuid, spec.name,
      spec.extra, ms_of(rank.aged_from), rank.due, rank.size, ms_of(transaction.time()), decision.keeps_digest,
      decision.offers_result ? known.sha256 : "");
  if (!decision.offers_result) drop_results(transaction, known.id);
}

/// Jobs of different keys.
void submit_distinct(Transaction& transaction, RunId run, std::span<const JobSpec> specs,
                     std::vector<Submitted>& answers) {
  std::vector<std::string> keys;
  keys.reserve(specs.size());
  for (const JobSpec& spec : specs) keys.push_back(spec.key);
  std::map<std::string, Job> known;
  transaction.rows(
      "SELECT " + kJobColumns + " FROM tutti_jobs WHERE key = ANY($1::text[]) FOR UPDATE",
      [&](const Row& row) {
        Job job = job_in(row);
        known.emplace(job.spec.key, std::move(job));
      },
      texts_of(keys));
  std::vector<Requested> added, kept;
  std::vector<std::size_t> answers_of_added;
  bool is_renewed = false;
  for (const JobSpec& spec : specs) {
    const auto found = known.find(spec.key);
    const Job* job = found == known.end() ? nullptr : &found->second;
    const RequestDecision decision = decide_request(job, spec);
    Submitted answer{.what = decision.what, .submitted = transaction.time()};
    switch (decision.what) {
      case Submitted::What::added:
        answers_of_added.push_back(answers.size());
        added.push_back({0, decision.spec, claim_rank(decision.spec, transaction.time())});
        break;
      case Submitted::What::kept:
        answer = {job->id, decision.what, job->state, job->submitted};
        kept.push_back({job->id, decision.spec, claim_rank(decision.spec, job->submitted)});
        break;
      case Submitted::What::renewed:
        renew_version(transaction, run, *job, decision);
        is_renewed = true;
        answer.id = job->id;
        answer.was = decision.was;
        break;
    }
    answers.push_back(std::move(answer));
  }
  insert(transaction, run, added);
  for (std::size_t i = 0; i < added.size(); ++i) answers[answers_of_added[i]].id = added[i].id;
  keep_versions(transaction, run, kept);
  if (is_renewed) release_waiting(transaction);
}

}  // namespace

Result<std::vector<Submitted>> PostgresStore::submit(RunId run, std::span<const JobSpec> specs) {
  return transactions_.change([&](Transaction& transaction) {
    // One after the other: an ended job and a new one of the same key are in different partitions, where no unique key
    // holds them apart.
    transaction.run("SELECT pg_advisory_xact_lock(7504384, 2)");
    bool is_there = false;
    transaction.rows(
        "SELECT 1 FROM tutti_runs WHERE id = $1", [&](const Row&) { is_there = true; }, run);
    if (!is_there) throw StatementError{{"run " + std::to_string(run) + " is not there", "23503"}};
    std::vector<Submitted> answers;
    answers.reserve(specs.size());
    std::set<std::string_view> keys;
    for (std::size_t first = 0, end = 0; first < specs.size(); first = end) {
      keys.clear();
      while (end < specs.size() && keys.insert(specs[end].key).second) ++end;
      submit_distinct(transaction, run, specs.subspan(first, end - first), answers);
    }
    return answers;
  });
}

Result<void> PostgresStore::set_length(const LeaseKey& key, Seconds audio, LengthSource source) {
  return transactions_.change([&](Transaction& transaction) {
    const auto held = held_job(transaction, key);
    if (!held || held->spec.length > source) return;
    JobSpec spec = held->spec;
    spec.audio = audio;
    const ClaimRank rank = claim_rank(spec, held->submitted);
    transaction.run("UPDATE tutti_jobs_hot SET audio = $2, length = $3, due = $4, size = $5 WHERE id = $1", key.job,
                    audio.count(), static_cast<int>(source), rank.due, rank.size);
  });
}

}  // namespace tutti
