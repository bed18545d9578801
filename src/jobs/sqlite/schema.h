#pragma once

#include <string>

#include "base/error.h"
#include "jobs/sqlite/database.h"

namespace tutti {

/// Brings the database to this program's schema, step by step by PRAGMA user_version, in one transaction. A newer one
/// is Fault::unsupported.
Result<void> migrate(Database& database, const std::string& name);

}  // namespace tutti
