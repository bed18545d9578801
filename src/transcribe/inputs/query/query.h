#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "text/manifest/write.h"

namespace tutti {

/// Takes one row of an answer, a field per column; false ends the query.
using OnAsset = std::function<bool(ManifestAsset&& asset)>;

/// Runs one query on a SQLite file, opened for reading only. Binary values come as their text. Fault::usage for a query
/// that cannot be intended; others for a file that is not there, is no database, or is locked by another process.
Result<void> query_sqlite(const std::filesystem::path& file, const std::string& query, const OnAsset& on_asset);

/// Runs one query on a PostgreSQL server, in a read-only transaction, row by row. `connection` is what psql takes
/// ("host=... dbname=..." or a URI; the PG* variables and ~/.pgpass hold). Numbers and truth values keep their kind,
/// everything else (dates, UUIDs, arrays) comes as PostgreSQL writes it. libpq.so.5 is loaded on first use;
/// Fault::unsupported without it. Errors never show the connection, which may hold a password.
Result<void> query_postgres(const std::string& connection, const std::string& query, const OnAsset& on_asset);

}  // namespace tutti
