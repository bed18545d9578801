#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/files.h"
#include "base/owned.h"
#include "base/try.h"
#include "traces/trace_import.h"

namespace tutti {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr Nanoseconds kMost = 3'000'000'000'000'000'000;  // sums and differences of two are valid

// A process in the numbers that Nsight Systems gives threads and processes.
#define PROCESS_OF(column) "((" column " >> 24) & 0xffffff)"

/// A table of the export: what it is for, and how it is read. Every query has the columns start, end, process,
/// correlation, name, device and stream.
struct Table {
  enum class Use { launch, kernel, copy, annotation } use;
  const char* name;
  const char* query;
};

constexpr std::array kTables{
    Table{Table::Use::launch, "CUPTI_ACTIVITY_KIND_RUNTIME",
          "SELECT start, end, " PROCESS_OF(
              "globalTid") ", correlationId, value, 0, 0 "
                           "FROM CUPTI_ACTIVITY_KIND_RUNTIME LEFT JOIN StringIds ON StringIds.id = nameId"},
    Table{Table::Use::kernel, "CUPTI_ACTIVITY_KIND_KERNEL",
          "SELECT start, end, " PROCESS_OF(
              "globalPid") ", correlationId, value, deviceId, streamId "
                           "FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN StringIds ON StringIds.id = shortName"},
    Table{Table::Use::copy, "CUPTI_ACTIVITY_KIND_MEMCPY",
          "SELECT start, end, " PROCESS_OF("globalPid") ", correlationId, 'copy ' || copyKind, deviceId, streamId "
                                                        "FROM CUPTI_ACTIVITY_KIND_MEMCPY"},
    Table{Table::Use::copy, "CUPTI_ACTIVITY_KIND_MEMSET",
          "SELECT start, end, " PROCESS_OF("globalPid") ", correlationId, 'set', deviceId, streamId "
                                                        "FROM CUPTI_ACTIVITY_KIND_MEMSET"},
    Table{Table::Use::annotation, "NVTX_EVENTS",
          "SELECT start, end, " PROCESS_OF(
              "globalTid") ", -1, coalesce(text, value), 0, 0 "
                           "FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId WHERE end IS NOT NULL"}};
#undef PROCESS_OF

using Handle = std::unique_ptr<sqlite3, FreeWith<sqlite3_close_v2>>;
using Statement = std::unique_ptr<sqlite3_stmt, FreeWith<sqlite3_finalize>>;

class NsightReader {
 public:
  NsightReader(Handle database, std::string name, TraceCollector& collector)
      : database_(std::move(database)), name_(std::move(name)), collector_(collector) {}

  Result<void> read() {
    const auto is_export = TRY(has_table("StringIds"));
    if (!is_export)
      return fail(Fault::unsupported, name_ + ": expected a table StringIds, as Nsight Systems exports one, found none",
                  "Make it with: nsys export --type sqlite FILE.nsys-rep");
    for (const Table& table : kTables) {
      const auto found = TRY(has_table(table.name));
      if (!found) continue;
      if (auto read = read_table(table); !read) return read;
    }
    return {};
  }

 private:
  tl::unexpected<Error> fault(const char* table) const {
    const int code = sqlite3_errcode(database_.get()) & 0xff;
    const bool lacks_column = code == SQLITE_ERROR;
    return fail(lacks_column ? Fault::unsupported : Fault::corrupt,
                name_ + ": table " + table + ": expected " +
                    (lacks_column ? "the columns of Nsight Systems' export" : "an intact database") +
                    ", found: " + sqlite3_errmsg(database_.get()),
                "Export it again with: nsys export --type sqlite FILE.nsys-rep");
  }

  Result<Statement> prepared(const char* sql, const char* table) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) return fault(table);
    return Statement(statement);
  }

  Result<bool> has_table(const char* name) const {
    const auto statement = TRY(prepared("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", name));
    sqlite3_bind_text(statement.get(), 1, name, -1, SQLITE_STATIC);
    const int code = sqlite3_step(statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) return fault(name);
    return code == SQLITE_ROW;
  }

  Result<void> read_table(const Table& table) {
    const auto statement = TRY(prepared(table.query, table.name));
    for (;;) {
      const int code = sqlite3_step(statement.get());
      if (code == SQLITE_DONE) return {};
      if (code != SQLITE_ROW) return fault(table.name);
      if (auto added = add(table.use, statement.get()); !added) return added;
    }
  }

  Result<void> add(Table::Use use, sqlite3_stmt* row) {
    const auto time = [&](int column) {
      return std::clamp<Nanoseconds>(sqlite3_column_int64(row, column), -kMost, kMost);
    };
    const HostSpan span{time(0), std::max(time(0), time(1))};
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 4));
    const std::string_view name = text ? text : "";
    const TraceCollector::Origin origin{sqlite3_column_int(row, 2), sqlite3_column_int64(row, 3)};
    switch (use) {
      case Table::Use::launch: return collector_.add_launch(origin, name, span);
      case Table::Use::annotation: return collector_.add_annotation(origin.process, name, span);
      case Table::Use::kernel:
      case Table::Use::copy: break;
    }
    if (time(1) < time(0)) {  // its end was lost
      collector_.leave_out();
      return {};
    }
    return collector_.add_work(origin, sqlite3_column_int(row, 5), name,
                               {.start = span.start,
                                .end = span.end,
                                .stream = sqlite3_column_int64(row, 6),
                                .kind = use == Table::Use::copy ? DeviceWorkKind::copy : DeviceWorkKind::compute});
  }

  Handle database_;
  std::string name_;
  TraceCollector& collector_;
};

}  // namespace

bool is_sqlite(const std::filesystem::path& file) {
  const OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::byte, kMagic.size()> magic{};
  return fd && read_whole(fd.get(), magic, 0) && std::memcmp(magic.data(), kMagic.data(), magic.size()) == 0;
}

Result<void> read_nsight(const std::filesystem::path& file, TraceCollector& collector) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle database(handle);
  if (code != SQLITE_OK)
    return fail(Fault::missing, file.string() + ": cannot be opened: " + sqlite3_errstr(code), "Check the path");
  return NsightReader(std::move(database), file.string(), collector).read();
}

}  // namespace tutti
