#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// Thrown by statements, inside this folder only: transactions are short, any statement may find the disk full, and
/// SqliteStore alone turns it into an error value.
struct SqlError {
  Error error;
};

/// The current row of a statement. Columns count from 0.
class ResultRow {
 public:
  explicit ResultRow(sqlite3_stmt* statement) : statement_(statement) {}
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  int count(int column) const { return sqlite3_column_int(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  bool is_true(int column) const { return count(column) != 0; }
  bool has(int column) const { return sqlite3_column_type(statement_, column) != SQLITE_NULL; }
  std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : "";
  }

 private:
  sqlite3_stmt* statement_;
};

/// NULL as an argument.
struct SqlNull {};

/// A connection with its prepared statements. One thread at a time. Everything but `open` throws SqlError.
class Database {
 public:
  static Result<Database> open(const std::filesystem::path& path, std::chrono::milliseconds busy_wait);

  /// Runs one statement with arguments for ?1, ?2, ... and returns how many rows it changed.
  template <class... Arguments>
  std::int64_t run(std::string_view sql, const Arguments&... arguments) {
    return rows(
        sql, [](const ResultRow&) {}, arguments...);
  }

  /// Calls `take(row)` for every row of a statement; returns how many rows it changed.
  template <class Take, class... Arguments>
  std::int64_t rows(std::string_view sql, Take&& take, const Arguments&... arguments) {
    const Reset statement{prepared(sql)};
    int at = 0;
    (bind(statement.handle, ++at, arguments), ...);
    while (step(statement.handle)) take(ResultRow(statement.handle));
    return sqlite3_changes64(handle_.get());
  }

  std::int64_t last_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
  /// Several statements without arguments.
  void script(const std::string& sql);
  void rollback() noexcept;

 private:
  struct Reset {  // releases the statement's locks and the texts bound to it
    sqlite3_stmt* handle;
    explicit Reset(sqlite3_stmt* statement) : handle(statement) {}
    Reset(const Reset&) = delete;
    Reset& operator=(const Reset&) = delete;
    ~Reset() {
      sqlite3_reset(handle);
      sqlite3_clear_bindings(handle);
    }
  };
  using Handle = std::unique_ptr<sqlite3, FreeWith<sqlite3_close_v2>>;
  using Statement = std::unique_ptr<sqlite3_stmt, FreeWith<sqlite3_finalize>>;

  Database(Handle handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  sqlite3_stmt* prepared(std::string_view sql);
  bool step(sqlite3_stmt* statement);
  [[noreturn]] void raise(int code) const;

  static void bind(sqlite3_stmt* statement, int at, std::int64_t value) { sqlite3_bind_int64(statement, at, value); }
  static void bind(sqlite3_stmt* statement, int at, int value) { sqlite3_bind_int(statement, at, value); }
  static void bind(sqlite3_stmt* statement, int at, double value) { sqlite3_bind_double(statement, at, value); }
  static void bind(sqlite3_stmt* statement, int at, SqlNull) { sqlite3_bind_null(statement, at); }
  static void bind(sqlite3_stmt* statement, int at, std::string_view text) {
    sqlite3_bind_text64(statement, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  template <class T>
  static void bind(sqlite3_stmt* statement, int at, const std::optional<T>& value) {
    if (value)
      bind(statement, at, *value);
    else
      bind(statement, at, SqlNull{});
  }

  Handle handle_;
  std::string name_;
  std::unordered_map<std::string, Statement> statements_;  // destroyed before the handle
};

}  // namespace tutti
