#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hub/find.h"
#include "jobs/open_store.h"
#include "settings/option_table.h"

namespace tutti {

/// find_model() for a command's --model. Where `word` is a name and no path, the log names the folder or file that it
/// was found as.
Result<std::filesystem::path> find_named_model(std::string_view word,
                                               const ModelFolders& folders = ModelFolders::from_environment());

/// What --store and --state name.
struct NamedStore {
  StoreUrl store;                  // where jobs and history are
  std::filesystem::path folder{};  // of this machine: tokens, results that wait for space
};
/// The store on the server that `store` names; where it names none, that in the folder `state`, or, without that, in
/// the usual one. Fault::usage for a server that no store is on, and for one in `state`.
Result<NamedStore> store_named(const std::filesystem::path& state, const std::string& store);

/// Binds --store.
void add_store(OptionTable& table, std::string& store);
/// Binds --lease, which is in seconds.
void add_lease(OptionTable& table, double& lease);
/// The length of --lease. Fault::usage outside 2 s to a day.
Result<std::chrono::milliseconds> lease_length(double seconds);

}  // namespace tutti
