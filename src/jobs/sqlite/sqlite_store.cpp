#include "jobs/sqlite/sqlite_store.h"

#include <fcntl.h>

#include <algorithm>

#include "base/environment.h"
#include "base/error.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "jobs/sqlite/job_rows.h"
#include "jobs/sqlite/local_disk.h"
#include "jobs/sqlite/schema.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* kDatabaseName = "tutti.sqlite";

}  // namespace

Result<std::unique_ptr<JobStore>> open_store_if_there(const StoreUrl& url) {
  std::error_code ignored;
  if (!fs::exists(url.folder() / kDatabaseName, ignored)) return nullptr;
  return open_store({.url = url});
}

Result<std::unique_ptr<JobStore>> open_store(const StoreOptions& options) {
  const fs::path& folder = options.url.folder();
  const fs::path owners = folder / "owners";
  if (const auto made = make_folders(owners); !made)
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
  if (auto locked = lock_file(turn.get(), door.string(), state_elsewhere()); !locked)
    return tl::unexpected(locked.error());
  const fs::path path = folder / kDatabaseName;
  auto database = Database::open(path, options.busy_wait);
  if (!database) return tl::unexpected(database.error());
  if (auto migrated = migrate(*database, path.string()); !migrated) return tl::unexpected(migrated.error());
  OwnerLock::clean(owners);
  auto owner = OwnerLock::take(owners);
  if (!owner) return tl::unexpected(owner.error());
  auto store = std::make_unique<SqliteStore>(std::move(*database), std::move(*owner), options);
  if (auto set = store->set_time(); !set) return tl::unexpected(set.error());
  return store;
}

std::vector<fs::path> files_of_store(const StoreUrl& url) {
  std::vector<fs::path> files;
  for (const char* ending : {"", "-wal", "-shm"}) files.push_back(url.folder() / (kDatabaseName + std::string(ending)));
  return files;
}

fs::path state_folder() {
  return xdg_folder(own_variables::kState, "XDG_STATE_HOME", ".local/state");
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
