#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "jobs/retry.h"
#include "jobs/store.h"
#include "jobs/store_clock.h"
#include "jobs/store_url.h"

namespace tutti {

struct StoreOptions {
  StoreUrl url;  // a folder is created when missing; it holds tutti.sqlite and owners/. A server's database must exist
  RetryRules retries{};
  /// Outlives the store. The time of one in a folder; one on a server has the server's, and counts on by this between
  /// two transactions.
  const StoreClock* clock = &StoreClock::real();
  std::chrono::milliseconds busy_wait{5000};  // in a folder, for other processes' transactions
  std::shared_ptr<ObjectOutputs> objects{};   // by which outputs in buckets are reached; null: files alone are
};

/// Opens, creates or migrates a store. In a folder: SQLite, WAL, synchronous=FULL. The folder must be on a local disk:
/// on a network file system (Fault::unsupported) SQLite's locks do not hold. On a server: PostgreSQL 13 or later; its
/// tables are made when missing. A store written by a newer Tutti is refused.
Result<std::unique_ptr<JobStore>> open_store(const StoreOptions& options);

/// For callers that only look: null where there is no store there yet, and none is made.
Result<std::unique_ptr<JobStore>> open_store_if_there(const StoreUrl& url,
                                                      std::shared_ptr<ObjectOutputs> objects = nullptr);

/// The files of a store, which nothing else is to be written onto.
std::vector<std::filesystem::path> files_of_store(const StoreUrl& url);

/// The store's folder by the XDG rules: $TUTTI_STATE, else $XDG_STATE_HOME/tutti, else ~/.local/state/tutti.
std::filesystem::path state_folder();

}  // namespace tutti
