#include "jobs/sqlite/database.h"

#include <cerrno>

#include "base/field_names.h"
#include "base/process/process_setup.h"
#include "jobs/sqlite/local_disk.h"

namespace tutti {
namespace {

/// SQLite calls only some of it a full disk: a quota that is used up, or a file that may not grow on, is a write that
/// failed, as those to a disk that fails are.
bool is_of_writing(int code) {
  return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_TRUNCATE;
}

Error sqlite_error(const std::string& name, int code, int system_error, const std::string& words) {
  const std::string what = name + ": " + words;
  if (is_of_writing(code) && system_error == EFBIG) return file_too_large(what);
  if (is_of_writing(code) && system_error == EROFS)
    return {Fault::refused, what + ": its file system has turned read-only",
            "See why: dmesg; make it writable again, or name another folder with " + field("state") + " DIR"};
  if ((code & 0xff) == SQLITE_FULL || (is_of_writing(code) && system_error != EIO))
    return {Fault::full, what, "Free some space on that disk, or name another folder with " + field("state") + " DIR"};
  switch (code & 0xff) {
    case SQLITE_IOERR:
      return {
          Fault::unavailable, what,
          "See the system's messages about that disk: dmesg; or name another folder with " + field("state") + " DIR"};
    case SQLITE_BUSY:
      return {Fault::unavailable, what, "Another process holds the store for long; see who has it open: fuser " + name};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Fault::corrupt, what,
              "Move the file away to begin a new store, or name another folder with " + field("state") + " DIR"};
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Fault::missing, what, "Name a folder that you may write to with " + field("state") + " DIR"};
    default: return {Fault::internal, what};
  }
}

/// The error of the last failed write to the database or to its log; 0: none has failed. What the connection remembers
/// (sqlite3_system_errno) is that of the last call of all, and may be a later one's.
int error_of_writes(sqlite3* handle) {
  int error = 0;
  sqlite3_file* journal = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
  if (journal && journal->pMethods) journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
  if (error == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

}  // namespace

Result<Database> Database::open(const std::filesystem::path& path, std::chrono::milliseconds busy_wait) {
  sqlite3* raw = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &raw, kFlags, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK)
    return tl::unexpected(sqlite_error(path.string(), code, raw ? sqlite3_system_errno(raw) : 0,
                                       raw ? sqlite3_errmsg(raw) : "no memory"));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, static_cast<int>(busy_wait.count()));
  Database database(std::move(handle), path.string());
  try {
    std::string mode;
    database.rows("PRAGMA journal_mode = WAL", [&](const ResultRow& row) { mode = row.text(0); });
    if (mode != "wal")
      return fail(Fault::unsupported, path.string() + ": expected a file system with shared memory, found none",
                  state_elsewhere());
    database.script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  } catch (const SqlError& failed) {
    return tl::unexpected(failed.error);
  }
  return database;
}

void Database::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code);
}

void Database::rollback() noexcept {
  if (!sqlite3_get_autocommit(handle_.get())) sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

sqlite3_stmt* Database::prepared(std::string_view sql) {
  auto& statement = statements_[std::string(sql)];
  if (!statement) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    statement.reset(raw);
    if (code != SQLITE_OK) raise(code);
  }
  return statement.get();
}

bool Database::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) raise(code);
  return code == SQLITE_ROW;
}

void Database::raise(int code) const {
  const std::string words = sqlite3_errmsg(handle_.get());  // before the next call, which would have its own
  int system_error = code == SQLITE_IOERR_WRITE ? error_of_writes(handle_.get()) : 0;
  if (system_error == 0) system_error = sqlite3_system_errno(handle_.get());  // errno for a temporary file, or no write
  throw SqlError{sqlite_error(name_, code, system_error, words)};
}

}  // namespace tutti
