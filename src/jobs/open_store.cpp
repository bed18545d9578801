#include "jobs/open_store.h"

#include <utility>

#include "base/environment.h"
#include "base/files.h"
#include "jobs/postgres/postgres_store.h"
#include "jobs/sqlite/sqlite_store.h"

namespace tutti {

namespace fs = std::filesystem;

Result<std::unique_ptr<JobStore>> open_store(const StoreOptions& options) {
  auto store = options.url.is_server() ? open_postgres_store(options, /*make=*/true) : open_sqlite_store(options);
  if (store) (*store)->reach_objects(options.objects);
  return store;
}

Result<std::unique_ptr<JobStore>> open_store_if_there(const StoreUrl& url, std::shared_ptr<ObjectOutputs> objects) {
  if (url.is_server()) {
    auto store = open_postgres_store({.url = url}, /*make=*/false);
    if (store && *store) (*store)->reach_objects(std::move(objects));
    return store;
  }
  std::error_code ignored;
  if (!fs::exists(url.folder() / kSqliteFile, ignored)) return nullptr;
  return open_store({.url = url, .objects = std::move(objects)});
}

std::vector<fs::path> files_of_store(const StoreUrl& url) {
  std::vector<fs::path> files;
  if (url.is_server()) return files;
  for (const char* ending : {"", "-wal", "-shm"}) files.push_back(url.folder() / (kSqliteFile + std::string(ending)));
  return files;
}

fs::path state_folder() {
  return xdg_folder(own_variables::kState, "XDG_STATE_HOME", ".local/state");
}

}  // namespace tutti
