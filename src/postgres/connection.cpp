#include "postgres/connection.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#include <array>
#include <vector>

#include "base/library_call.h"
#include "base/numbers.h"

namespace tutti::postgres {
namespace {

/// The part of libpq that is used, looked up once.
struct Library {
  decltype(&PQconnectdbParams) connect = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) error = nullptr;
  decltype(&PQsetNoticeProcessor) on_notice = nullptr;
  decltype(&PQexec) exec = nullptr;
  decltype(&PQexecParams) exec_with = nullptr;
  decltype(&PQsendQuery) send = nullptr;
  decltype(&PQsetSingleRowMode) row_by_row = nullptr;
  decltype(&PQgetResult) next = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorMessage) result_error = nullptr;
  decltype(&PQresultErrorField) error_field = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQntuples) rows = nullptr;
  decltype(&PQnfields) fields = nullptr;
  decltype(&PQfname) name = nullptr;
  decltype(&PQftype) type = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
  decltype(&PQcmdTuples) changed = nullptr;
};

bool look_up_all(void* library, Library& found) {
  return look_up(library, "PQconnectdbParams", found.connect) && look_up(library, "PQfinish", found.finish) &&
         look_up(library, "PQstatus", found.status) && look_up(library, "PQerrorMessage", found.error) &&
         look_up(library, "PQsetNoticeProcessor", found.on_notice) && look_up(library, "PQexec", found.exec) &&
         look_up(library, "PQexecParams", found.exec_with) && look_up(library, "PQsendQuery", found.send) &&
         look_up(library, "PQsetSingleRowMode", found.row_by_row) && look_up(library, "PQgetResult", found.next) &&
         look_up(library, "PQresultStatus", found.result_status) &&
         look_up(library, "PQresultErrorMessage", found.result_error) &&
         look_up(library, "PQresultErrorField", found.error_field) && look_up(library, "PQclear", found.clear) &&
         look_up(library, "PQntuples", found.rows) && look_up(library, "PQnfields", found.fields) &&
         look_up(library, "PQfname", found.name) && look_up(library, "PQftype", found.type) &&
         look_up(library, "PQgetisnull", found.is_null) && look_up(library, "PQgetvalue", found.value) &&
         look_up(library, "PQgetlength", found.length) && look_up(library, "PQcmdTuples", found.changed);
}

/// Null where the library is not there.
const Library* loaded() {
  static const Library* const library = []() -> const Library* {
    static Library found;
    void* handle = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    return handle && look_up_all(handle, found) ? &found : nullptr;
  }();
  return library;
}

/// For what has a connection, and so the library.
const Library& pq() {
  return *loaded();
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

/// A connection that failed has no SQLSTATE, only text.
Error error_of_opening(std::string text) {
  const auto has = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  const std::string what = "PostgreSQL: " + text;
  if (has("does not exist") && has("database"))
    return {Fault::missing, what, "Create it: createdb NAME, or name another one"};
  if (has("authentication failed") || has("no password supplied") || has("pg_hba.conf") || has("permission denied"))
    return {Fault::refused, what, "Set the user in the address and the password in ~/.pgpass or PGPASSWORD; try psql"};
  if (has("percent-encoded") || has(" URI") || has("invalid integer value") ||
      has("invalid port"))  // libpq quotes what it cannot read, a part of the password, too
    return {Fault::usage, "PostgreSQL: the address cannot be read",
            "Write it as psql takes it: postgres://USER@HOST/DATABASE; in a password % is %25, / is %2F and @ is %40"};
  if (has("invalid connection option") || has("missing \"=\""))
    return {Fault::usage, what, "Write it as psql takes it: postgres://USER@HOST/DATABASE"};
  return {Fault::unavailable, what, "See whether the server runs and answers: try psql with that address"};
}

/// The length of the well-formed UTF-8 character at `text`'s start; 0: there is none (RFC 3629).
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
  if (first == 0xed && byte(1) >= 0xa0) return 0;  // a surrogate
  if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return length;
}

constexpr std::string_view kKept = "\xf4\x8f";  // begins U+10F000 to U+10FFFF

/// U+10FF00 + byte: F4 8F, then BC to BF, then six bits.
std::string kept_byte(unsigned char byte) {
  return std::string(kKept) + static_cast<char>(0xbc | (byte >> 6U)) + static_cast<char>(0x80 | (byte & 0x3fU));
}

bool is_kept_byte(std::string_view text) {
  return text.size() >= 4 && text.starts_with(kKept) && static_cast<unsigned char>(text[2]) >= 0xbc;
}

}  // namespace

// ---- what a statement answered with

void Answer::clear(pg_result* result) {
  if (result) pq().clear(result);
}

int Answer::rows() const {
  return pq().rows(result_.get());
}

int Answer::columns() const {
  return pq().fields(result_.get());
}

std::string Answer::name(int column) const {
  return pq().name(result_.get(), column);
}

unsigned Answer::type(int column) const {
  return pq().type(result_.get(), column);
}

bool Answer::has(int row, int column) const {
  return !pq().is_null(result_.get(), row, column);
}

std::string_view Answer::bytes(int row, int column) const {
  return {pq().value(result_.get(), row, column), static_cast<std::size_t>(pq().length(result_.get(), row, column))};
}

std::int64_t Answer::changed() const {
  return number_in<std::int64_t>(pq().changed(result_.get())).value_or(0);
}

// ---- the connection

void Connection::finish(pg_conn* connection) {
  if (connection) pq().finish(connection);
}

Result<Connection> Connection::open(const std::string& where) {
  if (!loaded())
    return fail(Fault::unsupported, "libpq.so.5 cannot be loaded, and PostgreSQL needs it",
                "Install it (Debian: apt-get install libpq5)");
  // Settings before "dbname" are defaults of `where`; those behind it override it. A peer that went without a word is
  // noticed in half a minute.
  const std::array<const char*, 9> names{"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                         "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                         "dbname",           "client_encoding",  nullptr};
  const std::array<const char*, 9> values{"10", "10", "5", "4", "30000", "tutti", where.c_str(), "UTF8", nullptr};
  Connection opened(pq().connect(names.data(), values.data(), /*expand_dbname=*/1));
  if (!opened.connection_) return fail(Fault::exhausted, "PostgreSQL: no memory for a connection");
  if (pq().status(opened.connection_.get()) != CONNECTION_OK)
    return tl::unexpected(error_of_opening(one_line(pq().error(opened.connection_.get()))));
  pq().on_notice(
      opened.connection_.get(), [](void*, const char*) {}, nullptr);  // a library prints nothing
  return opened;
}

SqlFailure Connection::failure() const {
  return {.text = one_line(pq().error(connection_.get())), .is_lost = pq().status(connection_.get()) != CONNECTION_OK};
}

SqlFailure Connection::failure_of(const Answer& answer) const {
  SqlFailure failed = failure();
  if (const char* text = pq().result_error(answer.result_.get()); text && *text) failed.text = one_line(text);
  const char* state = pq().error_field(answer.result_.get(), PG_DIAG_SQLSTATE);
  if (state)
    failed.sqlstate = state;
  else
    failed.is_lost = true;  // no answer of the server's, even where libpq has not noticed its end yet
  return failed;
}

tl::expected<Answer, SqlFailure> Connection::checked(pg_result* result) const {
  Answer answer(result);
  if (!result) return tl::unexpected(failure());
  const auto status = pq().result_status(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return answer;
  if (status == PGRES_EMPTY_QUERY) return tl::unexpected(SqlFailure{"the query is empty"});
  return tl::unexpected(failure_of(answer));
}

tl::expected<Answer, SqlFailure> Connection::run(const std::string& sql, std::span<const Argument> arguments) {
  std::vector<const char*> values;
  values.reserve(arguments.size());
  for (const auto& argument : arguments) values.push_back(argument ? argument->c_str() : nullptr);
  return checked(pq().exec_with(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                                nullptr, nullptr, /*resultFormat=*/0));
}

tl::expected<Answer, SqlFailure> Connection::script(const std::string& sql) {
  return checked(pq().exec(connection_.get(), sql.c_str()));
}

tl::expected<void, SqlFailure> Connection::stream(const std::string& sql,
                                                  const std::function<bool(const Answer&)>& on_row) {
  if (!pq().send(connection_.get(), sql.c_str())) return tl::unexpected(failure());
  pq().row_by_row(connection_.get());
  while (pg_result* result = pq().next(connection_.get())) {
    const Answer answer(result);
    const auto status = pq().result_status(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY || status == PGRES_COPY_OUT ||
        status == PGRES_COPY_IN)
      return tl::unexpected(SqlFailure{"the query answers with no rows"});
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK) return tl::unexpected(failure_of(answer));
    if (answer.rows() > 0 && !on_row(answer)) return {};
  }
  return {};
}

// ---- texts

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = length_of_character(bytes);
    if (length == 0 || bytes.front() == '\0' || is_kept_byte(bytes)) {
      text += kept_byte(static_cast<unsigned char>(bytes.front()));
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

std::string bytes_of_utf8(std::string_view text) {
  if (text.find(kKept) == std::string_view::npos) return std::string(text);
  std::string bytes;
  while (!text.empty()) {
    if (is_kept_byte(text)) {
      bytes += static_cast<char>(((static_cast<unsigned char>(text[2]) & 3U) << 6U) |
                                 (static_cast<unsigned char>(text[3]) & 0x3fU));
      text.remove_prefix(4);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

}  // namespace tutti::postgres
