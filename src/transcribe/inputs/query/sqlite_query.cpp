#include <sqlite3.h>

#include <memory>

#include "base/owned.h"
#include "transcribe/inputs/query/query.h"

namespace tutti {
namespace {

ManifestValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return std::monostate{};
    case SQLITE_INTEGER: return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

/// Only what SQLite cannot make sense of is the query's own fault.
Fault fault_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR: return Fault::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Fault::corrupt;
    case SQLITE_CANTOPEN: return Fault::missing;
    case SQLITE_NOMEM: return Fault::exhausted;
    default: return Fault::usage;
  }
}

}  // namespace

Result<void> query_sqlite(const std::filesystem::path& file, const std::string& query, const OnAsset& on_asset) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, FreeWith<sqlite3_close_v2>> database(raw);
  const auto failed = [&](int code, const std::string& hint = "") {
    return fail(fault_of(code), file.string() + ": " + (raw ? sqlite3_errmsg(raw) : "no memory"), hint);
  };
  if (opened != SQLITE_OK) return failed(opened, "Name a SQLite file that is there");
  sqlite3_busy_timeout(raw, 5000);
  sqlite3_stmt* prepared = nullptr;
  const int compiled = sqlite3_prepare_v2(raw, query.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, FreeWith<sqlite3_finalize>> statement(prepared);
  if (compiled != SQLITE_OK)  // here it first looks into the file
    return failed(compiled, fault_of(compiled) == Fault::usage ? "See the query: " + query : "");
  if (!prepared) return fail(Fault::usage, "expected a query, found nothing that SQLite could run");
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
    ManifestAsset asset;
    for (int column = 0; column < sqlite3_column_count(prepared); ++column)
      asset.push_back({sqlite3_column_name(prepared, column), value_of(prepared, column)});
    if (!on_asset(std::move(asset))) return {};
  }
  if (code != SQLITE_DONE) return failed(code);
  return {};
}

}  // namespace tutti
