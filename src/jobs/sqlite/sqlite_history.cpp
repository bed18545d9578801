#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/sqlite_store.h"

namespace tutti {
namespace {

void read_devices(Database& database, RunRecord& run) {
  database.rows(
      "SELECT device, name, audio, busy, energy_joules, cost, windows, places FROM run_devices WHERE run = ?1 "
      "ORDER BY device",
      [&](const ResultRow& row) { run.end.devices.push_back(device_use_in(row)); }, run.id);
  for (auto& use : run.end.devices)
    database.rows(
        "SELECT reason, seconds FROM run_idle WHERE run = ?1 AND device = ?2",
        [&](const ResultRow& row) { use.idle[row.text(0)] = Seconds(row.real(1)); }, run.id, use.device);
}

}  // namespace

Result<RunId> SqliteStore::begin_run(const RunStart& start) {
  return transact([&](Database& database) {
    database.run(
        "INSERT INTO runs(command, batch, model, compute_type, started, runner) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        start.command, start.batch, start.model, start.compute_type, ms_of(now()), start.runner);
    return database.last_id();
  });
}

Result<void> SqliteStore::end_run(RunId run, const RunEnd& end) {
  return transact([&](Database& database) {
    database.run(
        "UPDATE runs SET ended = ?2, total = ?3, successful = ?4, failed = ?5, cancelled = ?6, elapsed = ?7, "
        "audio = ?8 WHERE id = ?1",
        run, ms_of(now()), end.total, end.successful, end.failed, end.cancelled, end.elapsed.count(),
        end.audio.count());
    database.run("DELETE FROM run_idle WHERE run = ?1", run);
    database.run("DELETE FROM run_devices WHERE run = ?1", run);
    for (const auto& use : end.devices) {
      database.run(
          "INSERT INTO run_devices(run, device, name, audio, busy, energy_joules, cost, windows, places) "
          "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO UPDATE SET "
          "audio = audio + excluded.audio, busy = busy + excluded.busy, "
          "energy_joules = energy_joules + excluded.energy_joules, cost = cost + excluded.cost, "
          "windows = windows + excluded.windows, places = max(places, excluded.places)",
          run, use.device, use.name, use.audio.count(), use.busy.count(), use.energy_joules, use.cost, use.windows,
          use.window_capacity);
      for (const auto& [reason, seconds] : use.idle)
        database.run(
            "INSERT INTO run_idle VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET seconds = seconds + "
            "excluded.seconds",
            run, use.device, reason, seconds.count());
    }
  });
}

Result<std::vector<RunRecord>> SqliteStore::runs(std::size_t limit) {
  return transact([&](Database& database) {
    std::vector<RunRecord> found;
    database.rows(
        std::string("SELECT ") + kRunColumns + " FROM runs ORDER BY id DESC LIMIT ?1",
        [&](const ResultRow& row) { found.push_back(run_in(row, now())); }, static_cast<std::int64_t>(limit));
    for (auto& run : found) read_devices(database, run);
    return found;
  });
}

Result<void> SqliteStore::report_run(RunId run, const std::string& status) {
  return transact([&](Database& database) {
    database.run("UPDATE runs SET seen = ?2, status = ?3 WHERE id = ?1 AND ended IS NULL", run, ms_of(now()), status);
  });
}

Result<std::vector<RunRecord>> SqliteStore::runs_seen(StoreTime since) {
  return transact([&](Database& database) {
    std::vector<RunRecord> found;
    database.rows(
        std::string("SELECT ") + kRunColumns + " FROM runs WHERE seen >= ?1 ORDER BY id",
        [&](const ResultRow& row) { found.push_back(run_in(row, now())); }, ms_of(since));
    return found;
  });
}

Result<void> SqliteStore::record_speed(const SpeedRecord& speed) {
  return transact([&](Database& database) {
    database.run(
        "INSERT INTO speeds(device, model, compute_type, concurrency, speed, overhead, samples, median_error, at) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        speed.key.device, speed.key.model, speed.key.compute_type, speed.key.concurrency, speed.speed,
        speed.overhead.count(), speed.samples, speed.median_error, ms_of(now()));
  });
}

Result<std::vector<SpeedRecord>> SqliteStore::speeds(bool all) {
  return transact([&](Database& database) {
    std::vector<SpeedRecord> found;
    const std::string newest =
        " WHERE id IN (SELECT max(id) FROM speeds GROUP BY device, model, compute_type, concurrency)";
    database.rows(
        std::string("SELECT ") + kSpeedColumns + " FROM speeds" + (all ? std::string() : newest) + " ORDER BY id",
        [&](const ResultRow& row) { found.push_back(speed_in(row)); });
    return found;
  });
}

Result<void> SqliteStore::record_event(const DeviceEvent& event) {
  return transact([&](Database& database) {
    database.run("INSERT INTO events(at, run, device, kind, text) VALUES(?1, ?2, ?3, ?4, ?5)", ms_of(now()), event.run,
                 event.device, event.kind, event.text);
  });
}

Result<std::vector<DeviceEvent>> SqliteStore::events(StoreTime since) {
  return transact([&](Database& database) {
    std::vector<DeviceEvent> found;
    database.rows(
        "SELECT device, run, kind, text, at FROM events WHERE at >= ?1 ORDER BY id",
        [&](const ResultRow& row) { found.push_back(device_event_in(row)); }, ms_of(since));
    return found;
  });
}

}  // namespace tutti
