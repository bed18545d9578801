#pragma once

#include <string>

#include "base/error.h"
#include "jobs/job.h"
#include "postgres/connection.h"

namespace tutti::postgres {

/// The partition of a job: 0 for one that is queued, running or held; else the month in which it ended, 202611 for
/// November 2026 (UTC).
int month_of(StoreTime time);
/// The month after that one.
inline int month_after(int month) {
  return month % 100 == 12 ? month + 89 : month + 1;
}

/// The version of the tables that this program makes. It leads older ones to it, and refuses newer ones.
std::int64_t newest_version();

/// Whether there is a store. `name`: of it, for messages.
Result<bool> has_store(Connection& connection, const std::string& name);

/// Makes the store's tables where they are missing, and leads those of earlier versions to the newest, all in one
/// transaction; of several processes one does it. Fault::unsupported for a store of a newer version.
Result<void> migrate(Connection& connection, const std::string& name);

/// Makes the partitions of that moment's month and the next one where they are missing, inside a transaction. Returns
/// whether it made one.
tl::expected<bool, SqlFailure> make_months(Connection& connection, StoreTime time);

}  // namespace tutti::postgres
