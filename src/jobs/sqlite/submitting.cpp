#include "jobs/sqlite/sqlite_store.h"
#include "jobs/sqlite/job_rows.h"

namespace tutti {
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

Result<void> SqliteStore::set_length(JobId job, Seconds audio, LengthSource source) {
  return transact([&](Database& database) {
    std::optional<JobSpec> spec;
    const std::string select = "SELECT " + std::string(kJobColumns) + " FROM tasks WHERE id = ?1";
    database.rows(
        select, [&](const ResultRow& row) { spec = job_in(row).spec; }, job);
    if (!spec || spec->length > source) return;
    spec->audio = audio;
    const ClaimOrder order = claim_order(*spec);
    database.run("UPDATE tasks SET audio = ?2, length = ?3, due = ?4, size = ?5 WHERE id = ?1", job, audio.count(),
                 static_cast<int>(source), order.due, order.size);
  });
}

}  // namespace tutti
