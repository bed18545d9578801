#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "jobs/store.h"

namespace tutti {

struct StoreOptions {
  std::filesystem::path folder{};                 // created when missing; holds tutti.sqlite and owners/
  const StoreClock* clock = &StoreClock::real();  // outlives the store
  RetryRules retries{};
  std::chrono::milliseconds busy_wait{5000};  // for other processes' transactions
};

/// Opens, creates or migrates the store in a folder: SQLite, WAL, synchronous=FULL. The folder must be on a local disk:
/// on a network file system (Fault::unsupported) SQLite's locks do not hold. A store written by a newer Tutti is
/// refused.
Result<std::unique_ptr<JobStore>> open_store(const StoreOptions& options);

/// For callers that only look: null where there is no store in the folder yet, and none is made.
Result<std::unique_ptr<JobStore>> open_store_if_there(const std::filesystem::path& folder);

/// The files of a store, which nothing else is to be written onto.
std::vector<std::filesystem::path> files_of_store(const std::filesystem::path& folder);

/// The store's folder by the XDG rules: $TUTTI_STATE, else $XDG_STATE_HOME/tutti, else ~/.local/state/tutti.
std::filesystem::path state_folder();

}  // namespace tutti
