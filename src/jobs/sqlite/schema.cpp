#include "jobs/sqlite/schema.h"

#include <array>

#include "base/field_names.h"

namespace tutti {
namespace {

/// Entry n leads from version n to n + 1. An entry that was released is never changed.
const std::array kSteps{
    R"sql(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL, batch TEXT NOT NULL, model TEXT NOT NULL, compute_type TEXT NOT NULL,
  started INTEGER NOT NULL,            -- ms, as every time here
  ended INTEGER,
  total INTEGER, successful INTEGER, failed INTEGER, cancelled INTEGER,
  elapsed REAL, audio REAL);           -- s, as every length here

CREATE TABLE run_devices(
  run INTEGER NOT NULL REFERENCES runs(id), device TEXT NOT NULL, name TEXT NOT NULL,
  audio REAL NOT NULL, busy REAL NOT NULL, energy_joules REAL, cost REAL,
  PRIMARY KEY(run, device)) WITHOUT ROWID;

CREATE TABLE run_idle(
  run INTEGER NOT NULL REFERENCES runs(id), device TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY(run, device, reason)) WITHOUT ROWID;

CREATE TABLE tasks(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE, batch TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs(id),
  input TEXT NOT NULL, bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL, options TEXT NOT NULL,
  audio REAL, length INTEGER NOT NULL,
  class INTEGER NOT NULL, priority INTEGER NOT NULL, deadline INTEGER,
  uuid TEXT NOT NULL, name TEXT NOT NULL, extra TEXT NOT NULL,
  aged_from INTEGER NOT NULL, due INTEGER NOT NULL, size REAL NOT NULL,  -- the order of claiming, the smallest first
  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'dead', 'cancelled', 'held')),
  attempts INTEGER NOT NULL DEFAULT 0, strikes INTEGER NOT NULL DEFAULT 0,
  device_failures INTEGER NOT NULL DEFAULT 0, memory_failures INTEGER NOT NULL DEFAULT 0,
  progress REAL NOT NULL DEFAULT 0,
  sha256 TEXT NOT NULL DEFAULT '', same_as INTEGER NOT NULL DEFAULT 0, waits_for INTEGER NOT NULL DEFAULT 0,
  submitted INTEGER NOT NULL, not_before INTEGER NOT NULL DEFAULT 0,
  cancel_wished INTEGER NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '', device TEXT NOT NULL DEFAULT '', failed_on TEXT NOT NULL DEFAULT '',
  lease_token TEXT NOT NULL DEFAULT '', lease_until INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '', published INTEGER NOT NULL DEFAULT 0);
CREATE INDEX tasks_claimable ON tasks(class, aged_from, due, size, id) WHERE state = 'queued';
CREATE INDEX tasks_running ON tasks(lease_until) WHERE state = 'running';
CREATE INDEX tasks_waiting ON tasks(waits_for) WHERE waits_for <> 0;
CREATE INDEX tasks_content ON tasks(sha256, options) WHERE sha256 <> '';
CREATE INDEX tasks_unpublished ON tasks(id) WHERE state = 'done' AND published = 0;
CREATE INDEX tasks_batch ON tasks(batch, state);

CREATE TABLE attempts(
  task INTEGER NOT NULL REFERENCES tasks(id), number INTEGER NOT NULL, token TEXT NOT NULL,
  device TEXT NOT NULL, owner TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER,
  end TEXT NOT NULL DEFAULT 'running', failure TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
  audio REAL NOT NULL DEFAULT 0, busy REAL NOT NULL DEFAULT 0,
  PRIMARY KEY(task, number)) WITHOUT ROWID;

CREATE TABLE results(
  task INTEGER NOT NULL REFERENCES tasks(id), number INTEGER NOT NULL,
  path TEXT NOT NULL, staged TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY(task, number)) WITHOUT ROWID;

CREATE TABLE speeds(
  id INTEGER PRIMARY KEY,
  device TEXT NOT NULL, model TEXT NOT NULL, compute_type TEXT NOT NULL, concurrency INTEGER NOT NULL,
  speed REAL NOT NULL, overhead REAL NOT NULL, samples INTEGER NOT NULL, median_error REAL, at INTEGER NOT NULL);
CREATE INDEX speeds_key ON speeds(device, model, compute_type, concurrency, id);

CREATE TABLE events(
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, run INTEGER NOT NULL,
  device TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX events_at ON events(at);
)sql",
    // The content of the version before, whose results are kept until they are known to be of no use.
    "ALTER TABLE tasks ADD COLUMN old_sha256 TEXT NOT NULL DEFAULT ''",
    // Waiting counts in whole periods of ten minutes, so that deadline and size decide within one; normal jobs go in
    // the order in which they were requested.
    R"sql(
UPDATE tasks SET aged_from = ((submitted + 599999) / 600000 - priority) * 600000, size = iif(class = 1, 0, size);
DROP INDEX tasks_claimable;
CREATE INDEX tasks_claimable ON tasks(class, aged_from, due, size, submitted, id) WHERE state = 'queued';
)sql",
    // A window costs time of its own beside what its audio takes: runs with windows of other lengths show how much.
    R"sql(
ALTER TABLE run_devices ADD COLUMN windows INTEGER;
ALTER TABLE run_devices ADD COLUMN places INTEGER;
)sql",
    // A file is replaced only where its content is what the job wrote. Whether results that are there already have been
    // edited since is not known: they are none of `known`.
    R"sql(
ALTER TABLE results ADD COLUMN modified_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE results ADD COLUMN kept TEXT NOT NULL DEFAULT '';
ALTER TABLE results ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
CREATE TABLE written(
  task INTEGER NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,  -- of former results; task 0: of no task
  PRIMARY KEY(task, sha256)) WITHOUT ROWID;
)sql",
    // One client's few jobs are claimed beside another's hundred thousand.
    R"sql(
CREATE INDEX tasks_claimable_of_batch ON tasks(batch, class, aged_from, due, size, submitted, id)
  WHERE state = 'queued';
)sql",
    // Runs show that they live, and what they do.
    R"sql(
ALTER TABLE runs ADD COLUMN runner TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN seen INTEGER;
ALTER TABLE runs ADD COLUMN status TEXT NOT NULL DEFAULT '';
)sql",
};

std::int64_t version_of(Database& database) {
  std::int64_t version = 0;
  database.rows("PRAGMA user_version", [&](const ResultRow& row) { version = row.number(0); });
  return version;
}

}  // namespace

Result<void> migrate(Database& database, const std::string& name) {
  constexpr auto kNewest = static_cast<std::int64_t>(kSteps.size());
  try {
    if (version_of(database) == kNewest) return {};
    database.script("BEGIN IMMEDIATE");
    const std::int64_t found = version_of(database);  // another process may have been first
    if (found > kNewest) {
      database.rollback();
      return fail(Fault::unsupported,
                  name + ": the store has version " + std::to_string(found) + ", this program knows up to " +
                      std::to_string(kNewest),
                  "Use the newer tutti that wrote it, or another folder with " + field("state") + " DIR");
    }
    for (std::int64_t version = found; version < kNewest; ++version)
      database.script(kSteps.at(static_cast<std::size_t>(version)));
    database.script("PRAGMA user_version = " + std::to_string(kNewest));
    database.script("COMMIT");
    return {};
  } catch (const SqlError& failed) {
    database.rollback();
    return tl::unexpected(failed.error);
  }
}

}  // namespace tutti
