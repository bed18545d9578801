#include "jobs/postgres/schema.h"

#include <array>
#include <chrono>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti::postgres {
namespace {

/// Entry n leads from version n to n + 1. An entry that was released is never changed. All names begin with tutti_ and
/// are found by the search path, so that a store may share a database, and a user's search path chooses its schema.
const std::array<std::string, 4> kSteps{
    R"sql(
CREATE TABLE tutti_meta(name text PRIMARY KEY, value bigint NOT NULL);

-- The clock of the store: ms since 1970, as every time here.
CREATE FUNCTION tutti_now() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE TABLE tutti_owners(name text PRIMARY KEY, seen bigint NOT NULL);  -- processes that hold jobs

CREATE TABLE tutti_runs(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  command text NOT NULL, batch text NOT NULL, model text NOT NULL, compute_type text NOT NULL,
  started bigint NOT NULL, ended bigint,
  total bigint NOT NULL DEFAULT 0, successful bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0,
  cancelled bigint NOT NULL DEFAULT 0,
  elapsed float8 NOT NULL DEFAULT 0, audio float8 NOT NULL DEFAULT 0);  -- s, as every length here

CREATE TABLE tutti_run_devices(
  run bigint NOT NULL REFERENCES tutti_runs(id), device text NOT NULL, name text NOT NULL,
  audio float8 NOT NULL, busy float8 NOT NULL, energy_joules float8, cost float8,
  windows bigint, window_capacity integer,
  PRIMARY KEY(run, device));

CREATE TABLE tutti_run_idle(
  run bigint NOT NULL REFERENCES tutti_runs(id), device text NOT NULL, reason text NOT NULL, seconds float8 NOT NULL,
  PRIMARY KEY(run, device, reason));

CREATE SEQUENCE tutti_job_ids;
CREATE TABLE tutti_jobs(
  month integer NOT NULL DEFAULT 0,
  id bigint NOT NULL DEFAULT nextval('tutti_job_ids'),
  key text COLLATE "C" NOT NULL, batch text COLLATE "C" NOT NULL, run bigint NOT NULL,
  input text NOT NULL, bytes bigint NOT NULL, modified_ns bigint NOT NULL, options text NOT NULL,
  audio float8, length integer NOT NULL,
  class integer NOT NULL, priority integer NOT NULL, deadline bigint,
  uuid text NOT NULL, name text NOT NULL, extra text NOT NULL,
  aged_from bigint NOT NULL, due bigint NOT NULL, size float8 NOT NULL,  -- the order of claiming, the smallest first
  state text NOT NULL CHECK(state IN ('queued', 'running', 'done', 'dead', 'cancelled', 'held')),
  attempts integer NOT NULL DEFAULT 0, strikes integer NOT NULL DEFAULT 0,
  device_failures integer NOT NULL DEFAULT 0, memory_failures integer NOT NULL DEFAULT 0,
  progress float8 NOT NULL DEFAULT 0,
  sha256 text NOT NULL DEFAULT '', old_sha256 text NOT NULL DEFAULT '',
  same_as bigint NOT NULL DEFAULT 0, waits_for bigint NOT NULL DEFAULT 0,
  submitted bigint NOT NULL, not_before bigint NOT NULL DEFAULT 0,
  cancel_requested boolean NOT NULL DEFAULT false,
  owner text NOT NULL DEFAULT '', device text NOT NULL DEFAULT '', failed_on text NOT NULL DEFAULT '',
  lease_token text NOT NULL DEFAULT '', lease_from bigint NOT NULL DEFAULT 0, lease_until bigint NOT NULL DEFAULT 0,
  error text NOT NULL DEFAULT '', published boolean NOT NULL DEFAULT false,
  CHECK((month = 0) = (state IN ('queued', 'running', 'held')))) PARTITION BY LIST(month);

-- What is to be done and in work: a small table, however many jobs there have been. Its rows change often, so they have
-- space beside them, and what they leave is cleared away early.
CREATE TABLE tutti_jobs_hot PARTITION OF tutti_jobs FOR VALUES IN (0)
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_analyze_scale_factor = 0.05);
CREATE UNIQUE INDEX tutti_jobs_hot_id ON tutti_jobs_hot(id);
CREATE UNIQUE INDEX tutti_jobs_hot_key ON tutti_jobs_hot(key);
CREATE INDEX tutti_jobs_hot_claimable ON tutti_jobs_hot(class, aged_from, due, size, submitted, id)
  WHERE state = 'queued';
CREATE INDEX tutti_jobs_hot_claimable_of_batch
  ON tutti_jobs_hot(batch, class, aged_from, due, size, submitted, id) WHERE state = 'queued';
CREATE INDEX tutti_jobs_hot_running ON tutti_jobs_hot(id) WHERE state = 'running';
CREATE INDEX tutti_jobs_hot_waiting ON tutti_jobs_hot(waits_for) WHERE waits_for <> 0;
CREATE INDEX tutti_jobs_hot_content ON tutti_jobs_hot(sha256, options) WHERE sha256 <> '';

CREATE TABLE tutti_attempts(
  job bigint NOT NULL, number integer NOT NULL, token text NOT NULL,
  device text NOT NULL, owner text NOT NULL, started bigint NOT NULL, ended bigint,
  ending text NOT NULL DEFAULT 'running', failure text NOT NULL DEFAULT '', error text NOT NULL DEFAULT '',
  audio float8 NOT NULL DEFAULT 0, busy float8 NOT NULL DEFAULT 0,
  PRIMARY KEY(job, number));

CREATE TABLE tutti_results(
  job bigint NOT NULL, number integer NOT NULL,
  path text NOT NULL, staged text NOT NULL, sha256 text NOT NULL, bytes bigint NOT NULL,
  modified_ns bigint NOT NULL, kept text NOT NULL,
  PRIMARY KEY(job, number));

CREATE TABLE tutti_written(
  job bigint NOT NULL, sha256 text NOT NULL, bytes bigint NOT NULL,  -- of former results; job 0: of no job
  PRIMARY KEY(job, sha256));

CREATE TABLE tutti_speeds(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  device text NOT NULL, model text NOT NULL, compute_type text NOT NULL, concurrency integer NOT NULL,
  speed float8 NOT NULL, overhead float8 NOT NULL, samples bigint NOT NULL, median_error float8, at bigint NOT NULL);
CREATE INDEX tutti_speeds_key ON tutti_speeds(device, model, compute_type, concurrency, id);

CREATE TABLE tutti_events(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, run bigint NOT NULL,
  device text NOT NULL, kind text NOT NULL, text text NOT NULL);
CREATE INDEX tutti_events_at ON tutti_events(at);
)sql",
    R"sql(
-- The latest change of each connection, by which it learns whether a COMMIT that got no answer was carried out.
CREATE TABLE tutti_marks(writer text PRIMARY KEY, number bigint NOT NULL, at bigint NOT NULL) WITH (fillfactor = 50);

-- The latest time that the clock has shown, by which it is noticed that it was set back.
INSERT INTO tutti_meta VALUES('latest', tutti_now());
)sql",
    // A remote runner looks for the jobs that it can do beside a million of others.
    R"sql(
CREATE INDEX tutti_jobs_hot_queued_of_options ON tutti_jobs_hot(options, id) WHERE state = 'queued';
)sql",
    // Runs show that they live, and what they do.
    R"sql(
ALTER TABLE tutti_runs ADD COLUMN runner text NOT NULL DEFAULT '';
ALTER TABLE tutti_runs ADD COLUMN seen bigint;
ALTER TABLE tutti_runs ADD COLUMN status text NOT NULL DEFAULT '';
CREATE INDEX tutti_runs_seen ON tutti_runs(seen);
)sql",
};

constexpr auto kNewest = static_cast<std::int64_t>(kSteps.size());

/// Held by the process that changes tables, until its transaction ends.
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(7504384, 1)";

std::string table_of(int month) {
  return "tutti_jobs_" + std::to_string(month);
}

tl::expected<bool, SqlFailure> is_there(Connection& connection, const std::string& table) {
  // From the catalog, whose lock makes the session notice what others have made; to_regclass alone may not.
  const auto there = TRY(
      connection.script("SELECT EXISTS(SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass('" + table + "'))"));
  return there.bytes(0, 0) == "t";
}

/// 0: there is no store yet.
tl::expected<std::int64_t, SqlFailure> version_of(Connection& connection) {
  const auto there = TRY(is_there(connection, "tutti_meta"));
  if (!there) return 0;
  const auto version = TRY(connection.script("SELECT value FROM tutti_meta WHERE name = 'version'"));
  return version.rows() == 1 ? number_in<std::int64_t>(version.bytes(0, 0)).value_or(0) : 0;
}

tl::expected<void, SqlFailure> lead(Connection& connection, std::int64_t version) {
  for (; version < kNewest; ++version) TRY(connection.script(kSteps.at(static_cast<std::size_t>(version))));
  TRY(connection.script("INSERT INTO tutti_meta VALUES('version', " + std::to_string(kNewest) +
                        ") ON CONFLICT(name) DO UPDATE SET value = excluded.value"));
  return {};
}

tl::expected<void, SqlFailure> make_month(Connection& connection, int month) {
  const std::string number = std::to_string(month), table = table_of(month);
  // Attached and not made as a partition, which would wait for every transaction that uses the store.
  TRY(connection.script("CREATE TABLE " + table + "(LIKE tutti_jobs INCLUDING DEFAULTS INCLUDING CONSTRAINTS); " +
                        "CREATE UNIQUE INDEX " + table + "_id ON " + table + "(id); " + "CREATE INDEX " + table +
                        "_key ON " + table + "(key); " + "CREATE INDEX " + table + "_batch ON " + table +
                        "(batch, state); " + "CREATE INDEX " + table + "_content ON " + table +
                        "(sha256, options) WHERE sha256 <> ''; " + "CREATE INDEX " + table + "_unpublished ON " +
                        table + "(id) WHERE state = 'done' AND NOT published; " + "ALTER TABLE " + table +
                        " ADD CONSTRAINT " + table + "_month CHECK(month = " + number + "); " +
                        "ALTER TABLE tutti_jobs ATTACH PARTITION " + table + " FOR VALUES IN (" + number + ")"));
  return {};
}

}  // namespace

std::int64_t newest_version() {
  return kNewest;
}

int month_of(StoreTime time) {
  const std::chrono::year_month_day day(std::chrono::time_point_cast<std::chrono::days>(time));
  return static_cast<int>(day.year()) * 100 + static_cast<int>(static_cast<unsigned>(day.month()));
}

tl::expected<bool, SqlFailure> make_months(Connection& connection, StoreTime time) {
  bool is_locked = false, made = false;
  for (const int month : {month_of(time), month_after(month_of(time))}) {
    auto there = is_there(connection, table_of(month));
    if (there && !*there && !is_locked) {
      TRY(connection.script(kLock));
      is_locked = true;
      there = is_there(connection, table_of(month));  // another process may have been first
    }
    TRY(there);
    if (*there) continue;
    TRY(make_month(connection, month));
    made = true;
  }
  return made;
}

Result<bool> has_store(Connection& connection, const std::string& name) {
  const auto version = version_of(connection);
  if (!version) return fail(Fault::unavailable, name + ": " + version.error().text);
  return *version > 0;
}

Result<void> migrate(Connection& connection, const std::string& name) {
  const auto failed = [&](const SqlFailure& failure) -> tl::unexpected<Error> {
    connection.script("ROLLBACK");
    if (failure.sqlstate == "42501")
      return fail(
          Fault::refused, name + ": " + failure.text,
          "Let the user of the address make tables: GRANT CREATE ON SCHEMA public TO ..., or name its own database");
    return fail(failure.is_lost ? Fault::unavailable : Fault::internal, name + ": " + failure.text);
  };
  auto version = version_of(connection);
  if (!version) return failed(version.error());
  if (*version < kNewest) {
    for (const char* statement : {"BEGIN", kLock})
      if (const auto done = connection.script(statement); !done) return failed(done.error());
    version = version_of(connection);  // another process may have been first
    if (!version) return failed(version.error());
    if (*version < kNewest)
      if (const auto led = lead(connection, *version); !led) return failed(led.error());
    if (const auto done = connection.script("COMMIT"); !done) return failed(done.error());
  }
  if (*version <= kNewest) return {};
  return fail(Fault::unsupported,
              name + ": the store has version " + std::to_string(*version) + ", this program knows up to " +
                  std::to_string(kNewest),
              "Use the newer tutti that wrote it, or another database with " + field("store") + " URL");
}

}  // namespace tutti::postgres
