#include "jobs/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/new_file.h"
#include "base/owned.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/local_disk.h"
#include "jobs/sqlite/schema.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// The store's files have names of recordings in them: 0600, whatever the umask, also those of earlier versions. SQLite
/// makes its logs with the database's mode. Where that fails, opening the database reports why.
void close_to_other_users(const StoreUrl& url, const fs::path& database) {
  // Only a new file is opened: closing a descriptor of a database ends every lock that this process has on it.
  if (const OwnedFd made(::open(database.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)); made) return;
  for (const fs::path& file : files_of_store(url)) ::chmod(file.c_str(), 0600);
}

}  // namespace

Result<std::unique_ptr<JobStore>> open_sqlite_store(const StoreOptions& options) {
  const fs::path& folder = options.url.folder();
  const fs::path owners = folder / "owners";
  if (const auto made = make_private_folder(folder).and_then([&] { return make_private_folder(owners); }); !made)
    return tutti::fail(made.error().fault, "the store's folder: " + made.error().what,
                       "Name a folder that you may write to with " + field("state") + " DIR");
  if (const auto network = network_file_system(folder))
    return tutti::fail(Fault::unsupported,
                       folder.string() + ": the store is on " + *network + ", where the locks of SQLite do not hold",
                       state_elsewhere());
  // SQLite makes a new file a write-ahead one without waiting for others who do so: one process at a time opens.
  const fs::path door = folder / "opening.lock";
  const OwnedFd turn(::open(door.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!turn) return fail_errno(door.string(), "could not be opened");
  TRY(lock_file(turn.get(), door.string(), state_elsewhere()));
  const fs::path path = folder / kSqliteFile;
  close_to_other_users(options.url, path);
  auto database = TRY(Database::open(path, options.busy_wait));
  TRY(migrate(database, path.string()));
  OwnerLock::clean(owners);
  auto owner = TRY(OwnerLock::take(owners));
  auto store = std::make_unique<SqliteStore>(std::move(database), std::move(owner), options);
  TRY(store->set_time());
  return store;
}

Result<void> SqliteStore::set_time() {
  const StoreClock& clock = *options_.clock;
  return transact([&](Database& database) {
    std::string boot;
    std::int64_t base = 0, latest = 0;
    database.rows("SELECT value FROM meta WHERE name = 'boot'", [&](const ResultRow& row) { boot = row.text(0); });
    database.rows("SELECT value FROM meta WHERE name = 'base'", [&](const ResultRow& row) { base = row.number(0); });
    database.rows("SELECT max(coalesce(ended, started)) FROM runs",
                  [&](const ResultRow& row) { latest = row.number(0); });
    database.rows("SELECT max(submitted) FROM tasks",
                  [&](const ResultRow& row) { latest = std::max(latest, row.number(0)); });
    base_ = time_of(base);
    if (boot == clock.boot() && ms_of(now()) >= latest) return;
    base_ = std::max(clock.wall(), time_of(latest)) - clock.since_boot();
    database.run("INSERT OR REPLACE INTO meta VALUES('boot', ?1)", clock.boot());
    database.run("INSERT OR REPLACE INTO meta VALUES('base', ?1)", ms_of(base_));
    database.run("UPDATE tasks SET lease_until = 0 WHERE state = 'running'");
    database.run("UPDATE tasks SET not_before = 0 WHERE state = 'queued' AND not_before <> 0");
  });
}

}  // namespace tutti
