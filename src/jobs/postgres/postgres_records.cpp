#include "jobs/postgres/postgres_store.h"
#include "jobs/postgres/rows.h"

namespace tutti {

using namespace postgres;

// ---- outputs

Result<std::vector<JobOutput>> PostgresStore::outputs(JobId job) {
  return transactions_.look([&](Transaction& transaction) {
    bool is_done = false;
    transaction.rows(
        "SELECT 1 FROM tutti_jobs WHERE id = $1 AND month <> 0 AND state = 'done'", [&](const Row&) { is_done = true; },
        job);
    return is_done ? outputs_of(transaction, job) : std::vector<JobOutput>{};
  });
}

Result<std::vector<OutputRecords::Unpublished>> PostgresStore::unpublished() {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<Unpublished> found;
    transaction.rows("SELECT id FROM tutti_jobs WHERE month <> 0 AND state = 'done' AND NOT published ORDER BY id",
                     [&](const Row& row) {
                       found.push_back({row.number(0), {}});
                     });
    for (auto& job : found) job.outputs = outputs_of(transaction, job.job);
    return found;
  });
}

Result<void> PostgresStore::mark_published(JobId job, const std::string& staged) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run(
        "UPDATE tutti_jobs SET published = true WHERE id = $1 AND month <> 0 AND state = 'done' "
        "AND EXISTS(SELECT 1 FROM tutti_results WHERE job = $1 AND staged = $2)",
        job, staged);
  });
}

Result<std::vector<KnownContent>> PostgresStore::written(JobId job) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<KnownContent> all;
    transaction.rows(
        "SELECT sha256, bytes FROM tutti_results WHERE job = $1 "
        "UNION SELECT sha256, bytes FROM tutti_written WHERE job = $1",
        [&](const Row& row) {
          all.push_back({row.text(0), row.number(1)});
        },
        job);
    return all;
  });
}

Result<void> PostgresStore::record_written(JobId job, const KnownContent& content) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run("INSERT INTO tutti_written(job, sha256, bytes) VALUES($1, $2, $3) ON CONFLICT DO NOTHING", job,
                    content.sha256, content.bytes);
  });
}

Result<void> PostgresStore::move_output(JobId job, const JobOutput& output) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run(
        "UPDATE tutti_results SET path = $3, kept = $4, sha256 = $5, bytes = $6, modified_ns = $7 "
        "WHERE job = $1 AND staged = $2",
        job, output.staged, output.path, output.kept, output.sha256, output.bytes, output.modified_ns);
  });
}

Result<OutputRecords::StagedBy> PostgresStore::staged_by(const LeaseKey& key) {
  return transactions_.look([&](Transaction& transaction) {
    auto by = StagedBy::other;
    transaction.rows(
        "SELECT ending = 'running' OR (ending = 'done' AND EXISTS(SELECT 1 FROM tutti_jobs WHERE id = $1 "
        "AND month <> 0 AND state = 'done' AND NOT published)) FROM tutti_attempts WHERE job = $1 AND token = $2",
        [&](const Row& row) { by = row.is_true(0) ? StagedBy::at_work : StagedBy::over; }, key.job, key.token);
    return by;
  });
}

// ---- history

namespace {

void read_devices(Transaction& transaction, RunRecord& run) {
  transaction.rows(
      "SELECT device, name, audio, busy, energy_joules, cost, windows, window_capacity FROM tutti_run_devices "
      "WHERE run = $1 ORDER BY device",
      [&](const Row& row) { run.end.devices.push_back(device_use_in(row)); }, run.id);
  for (auto& use : run.end.devices)
    transaction.rows(
        "SELECT reason, seconds FROM tutti_run_idle WHERE run = $1 AND device = $2",
        [&](const Row& row) { use.idle[row.text(0)] = Seconds(row.real(1)); }, run.id, use.device);
}

void insert_device(Transaction& transaction, RunId run, const DeviceUse& use) {
  transaction.run(
      "INSERT INTO tutti_run_devices AS known(run, device, name, audio, busy, energy_joules, cost, windows, "
      "window_capacity) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT(run, device) DO UPDATE SET "
      "audio = known.audio + excluded.audio, busy = known.busy + excluded.busy, "
      "energy_joules = known.energy_joules + excluded.energy_joules, cost = known.cost + excluded.cost, "
      "windows = known.windows + excluded.windows, "
      "window_capacity = greatest(known.window_capacity, excluded.window_capacity)",
      run, use.device, use.name, use.audio.count(), use.busy.count(), use.energy_joules, use.cost, use.windows,
      use.window_capacity);
  for (const auto& [reason, seconds] : use.idle)
    transaction.run(
        "INSERT INTO tutti_run_idle AS known(run, device, reason, seconds) VALUES($1, $2, $3, $4) "
        "ON CONFLICT(run, device, reason) DO UPDATE SET seconds = known.seconds + excluded.seconds",
        run, use.device, reason, seconds.count());
}

}  // namespace

Result<RunId> PostgresStore::begin_run(const RunStart& start) {
  return transactions_.change([&](Transaction& transaction) {
    RunId id = 0;
    transaction.rows(
        "INSERT INTO tutti_runs(command, batch, model, compute_type, started, runner) VALUES($1, $2, $3, $4, $5, $6) "
        "RETURNING id",
        [&](const Row& row) { id = row.number(0); }, start.command, start.batch, start.model, start.compute_type,
        ms_of(transaction.time()), start.runner);
    return id;
  });
}

Result<void> PostgresStore::end_run(RunId run, const RunEnd& end) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run(
        "UPDATE tutti_runs SET ended = $2, total = $3, successful = $4, failed = $5, cancelled = $6, elapsed = $7, "
        "audio = $8 WHERE id = $1",
        run, ms_of(transaction.time()), end.total, end.successful, end.failed, end.cancelled, end.elapsed.count(),
        end.audio.count());
    transaction.run("DELETE FROM tutti_run_idle WHERE run = $1", run);
    transaction.run("DELETE FROM tutti_run_devices WHERE run = $1", run);
    for (const auto& use : end.devices) insert_device(transaction, run, use);
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs(std::size_t limit) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<RunRecord> found;
    transaction.rows(
        std::string("SELECT ") + kRunColumns + " FROM tutti_runs ORDER BY id DESC LIMIT $1",
        [&](const Row& row) { found.push_back(run_in(row, transaction.time())); }, static_cast<std::int64_t>(limit));
    for (auto& run : found) read_devices(transaction, run);
    return found;
  });
}

Result<void> PostgresStore::report_run(RunId run, const std::string& status) {
  return transactions_.change_soon([&](Transaction& transaction) {
    transaction.run("UPDATE tutti_runs SET seen = $2, status = $3 WHERE id = $1 AND ended IS NULL", run,
                    ms_of(transaction.time()), status);
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs_seen(StoreTime since) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<RunRecord> found;
    transaction.rows(
        std::string("SELECT ") + kRunColumns + " FROM tutti_runs WHERE seen >= $1 ORDER BY id",
        [&](const Row& row) { found.push_back(run_in(row, transaction.time())); }, ms_of(since));
    return found;
  });
}

Result<void> PostgresStore::record_speed(const SpeedRecord& speed) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run(
        "INSERT INTO tutti_speeds(device, model, compute_type, concurrency, speed, overhead, samples, median_error, "
        "at) "
        "VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        speed.key.device, speed.key.model, speed.key.compute_type, speed.key.concurrency, speed.speed,
        speed.overhead.count(), speed.samples, speed.median_error, ms_of(transaction.time()));
  });
}

Result<std::vector<SpeedRecord>> PostgresStore::speeds(bool all) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<SpeedRecord> found;
    const std::string newest =
        " WHERE id IN (SELECT max(id) FROM tutti_speeds GROUP BY device, model, compute_type, concurrency)";
    transaction.rows(
        std::string("SELECT ") + kSpeedColumns + " FROM tutti_speeds" + (all ? std::string() : newest) + " ORDER BY id",
        [&](const Row& row) { found.push_back(speed_in(row)); });
    return found;
  });
}

Result<void> PostgresStore::record_event(const DeviceEvent& event) {
  return transactions_.change([&](Transaction& transaction) {
    transaction.run("INSERT INTO tutti_events(at, run, device, kind, text) VALUES($1, $2, $3, $4, $5)",
                    ms_of(transaction.time()), event.run, event.device, event.kind, event.text);
  });
}

Result<std::vector<DeviceEvent>> PostgresStore::events(StoreTime since) {
  return transactions_.look([&](Transaction& transaction) {
    std::vector<DeviceEvent> found;
    transaction.rows(
        "SELECT device, run, kind, text, at FROM tutti_events WHERE at >= $1 ORDER BY id",
        [&](const Row& row) { found.push_back(device_event_in(row)); }, ms_of(since));
    return found;
  });
}

}  // namespace tutti
