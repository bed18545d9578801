#include "cli/named_model.h"

#include "base/log.h"
#include "base/numbers.h"

namespace tutti {

Result<std::filesystem::path> find_named_model(std::string_view word, const ModelFolders& folders) {
  auto model = find_model(word, folders);
  if (model && *model != word) log(Level::info, "model " + std::string(word) + ": " + model->string());
  return model;
}

Result<NamedStore> store_named(const std::filesystem::path& state, const std::string& store) {
  auto folder = StoreUrl::parse(state.empty() ? state_folder().string() : state.string());
  if (folder && folder->is_server())
    return fail(Fault::usage, "--state: " + folder->text() + ": expected a folder, found a server",
                "Name a server with --store");
  if (!folder) return fail_in("--state", folder.error());
  if (store.empty()) return NamedStore{*folder, folder->folder()};
  auto url = StoreUrl::parse(store);
  if (!url) return fail_in("--store", url.error());
  if (!url->is_server())
    return fail(Fault::usage,
                store.find('=') == store.npos
                    ? "--store: " + store + ": expected postgres://USER@HOST/DATABASE, found a folder"
                    : "--store: expected postgres://USER@HOST/DATABASE, found a connection string of another form",
                "Name a folder with --state");  // such a string may have a password in it

  return NamedStore{*url, folder->folder()};
}

void add_store(OptionTable& table, std::string& store) {
  table.add(
      "store", store, "URL",
      "the job store on a PostgreSQL server that machines share, postgres://USER@HOST/DATABASE, with the password "
      "in ~/.pgpass or PGPASSWORD; default: a folder of this machine");
}

void add_lease(OptionTable& table, double& lease) {
  table.add("lease", lease, "SECONDS",
            "a job is held for so long, and renewed six times in that; one whose process was killed on another machine "
            "is done by others so soon");
}

Result<std::chrono::milliseconds> lease_length(double seconds) {
  if (seconds >= 2 && seconds <= 86'400) return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return fail(Fault::usage, "--lease: expected 2 to 86400 seconds, found " + number_text(seconds));
}

}  // namespace tutti
