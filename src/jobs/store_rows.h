#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "jobs/history.h"
#include "jobs/job.h"
#include "jobs/job_admin.h"

namespace tutti {

// What the stores in SQL have in common: how rows are read, and parts of statements that both databases understand. A
// `Row` is a row of an answer; it has number, count, real, is_true, has and text of a column, counted from 0.

/// Moments as the databases keep them.
inline std::int64_t ms_of(StoreTime time) {
  return time.time_since_epoch().count();
}
inline StoreTime time_of(std::int64_t ms) {
  return StoreTime(std::chrono::milliseconds(ms));
}

/// The columns that `job_in` reads, in its order, for SELECT and RETURNING. `cancel_requested`: what the database calls
/// the column of Job::cancel_requested.
std::string job_columns(const std::string& cancel_requested);
inline constexpr int kJobColumnCount = 32;

template <class Row>
Job job_in(const Row& row) {
  Job job;
  job.id = row.number(0);
  job.run = row.number(1);
  JobSpec& spec = job.spec;
  spec.key = row.text(2);
  spec.batch = row.text(3);
  spec.input = row.text(4);
  spec.identity = {row.number(5), row.number(6)};
  spec.options = row.text(7);
  if (row.has(8)) spec.audio = Seconds(row.real(8));
  spec.length = static_cast<LengthSource>(row.count(9));
  spec.job_class = static_cast<JobClass>(row.count(10));
  spec.priority = row.count(11);
  if (row.has(12)) spec.deadline = time_of(row.number(12));
  spec.uuid = row.text(13);
  spec.name = row.text(14);
  spec.extra = row.text(15);
  job.state = job_state_named(row.text(16)).value_or(JobState::queued);
  job.attempts = row.count(17);
  job.strikes = row.count(18);
  job.progress = row.real(19);
  job.sha256 = row.text(20);
  job.same_as = row.number(21);
  job.submitted = time_of(row.number(22));
  job.not_before = time_of(row.number(23));
  job.cancel_requested = row.is_true(24);
  job.device = row.text(25);
  job.error = row.text(26);
  job.device_failures = row.count(27);
  job.memory_failures = row.count(28);
  job.waits_for = row.number(29);
  job.failed_on = row.text(30);
  job.owner = row.text(31);
  return job;
}

/// Columns: job, number, device, owner, started, ended, how it ended, failure, error, busy time.
template <class Row>
Attempt attempt_in(const Row& row) {
  Attempt attempt{row.number(0), row.count(1), row.text(2), row.text(3), time_of(row.number(4))};
  if (row.has(5)) attempt.ended = time_of(row.number(5));
  attempt.end = attempt_end_named(row.text(6)).value_or(AttemptEnd::running);
  attempt.failure = row.text(7);
  attempt.error = row.text(8);
  attempt.busy = Seconds(row.real(9));
  return attempt;
}

/// Columns from `first` on: path, staged, sha256, bytes, modified_ns, kept.
template <class Row>
JobOutput output_in(const Row& row, int first = 0) {
  return {row.text(first),       row.text(first + 1),   row.text(first + 2),
          row.number(first + 3), row.number(first + 4), row.text(first + 5)};
}

/// Columns: class, state, number of jobs.
template <class Row>
ClassCount class_count_in(const Row& row) {
  return {static_cast<JobClass>(row.number(0)), job_state_named(row.text(1)).value_or(JobState::queued), row.number(2)};
}

/// Columns: device, name, audio, busy time, joules, cost, windows, window capacity.
template <class Row>
DeviceUse device_use_in(const Row& row) {
  DeviceUse use{row.text(0), row.text(1), Seconds(row.real(2)), Seconds(row.real(3))};
  if (row.has(4)) use.energy_joules = row.real(4);
  if (row.has(5)) use.cost = row.real(5);
  if (row.has(6)) use.windows = row.number(6);
  if (row.has(7)) use.window_capacity = row.count(7);
  return use;
}

/// The columns that `run_in` reads.
inline constexpr const char* kRunColumns =
    "id, command, batch, model, compute_type, started, ended, total, successful, failed, cancelled, elapsed, audio, "
    "runner, seen, status";

/// A run without its devices.
template <class Row>
RunRecord run_in(const Row& row, StoreTime now) {
  RunRecord run{
      row.number(0), {row.text(1), row.text(2), row.text(3), row.text(4), row.text(13)}, time_of(row.number(5))};
  if (row.has(14)) run.silent = std::max(Seconds(0), Seconds(now - time_of(row.number(14))));
  run.status = row.text(15);
  if (row.has(6)) run.ended = time_of(row.number(6));
  run.end = {row.number(7), row.number(8), row.number(9), row.number(10), Seconds(row.real(11)), Seconds(row.real(12))};
  return run;
}

/// The columns that `speed_in` reads.
inline constexpr const char* kSpeedColumns =
    "device, model, compute_type, concurrency, speed, overhead, samples, median_error, at";

template <class Row>
SpeedRecord speed_in(const Row& row) {
  SpeedRecord speed{
      {row.text(0), row.text(1), row.text(2), row.count(3)}, row.real(4), Seconds(row.real(5)), row.number(6)};
  if (row.has(7)) speed.median_error = row.real(7);
  speed.at = time_of(row.number(8));
  return speed;
}

/// Columns: device, run, kind, text, when.
template <class Row>
DeviceEvent device_event_in(const Row& row) {
  return {row.text(0), row.number(1), row.text(2), row.text(3), time_of(row.number(4))};
}

/// Adds a row to its minute. Columns: the minute since the epoch of StoreTime, done or dead, number of jobs.
template <class Row>
void add_ended(std::map<std::int64_t, EndedJobs>& minutes, const Row& row) {
  EndedJobs& minute = minutes[row.number(0)];
  minute.minute = time_of(row.number(0) * 60000);
  (job_state_named(row.text(1)) == JobState::done ? minute.done : minute.failed) += row.number(2);
}

/// "'dead', 'cancelled'"
std::string sql_list(std::span<const JobState> states);
/// The number of jobs in the state of that name.
std::int64_t& count_of(JobCounts& counts, std::string_view state);
/// What a job becomes that is queued again, for UPDATE ... SET. It waits from now on: while it had ended, it was not
/// waiting.
std::string requeue_columns(StoreTime now, const std::string& cancel_requested);

}  // namespace tutti
