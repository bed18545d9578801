#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

struct pg_conn;    // libpq's, which is loaded on first use
struct pg_result;  // likewise

namespace tutti::postgres {

/// How a statement or a connection failed.
struct SqlFailure {
  std::string text{};      // one line, as the server writes it; never holds the connection's password
  std::string sqlstate{};  // five characters (errcodes.txt of PostgreSQL); empty: the server did not answer
  bool is_lost = false;    // the connection is of no use any more
};

/// What a statement answered with. Rows and columns count from 0.
class Answer {
 public:
  explicit Answer(pg_result* result) : result_(result, &clear) {}

  int rows() const;
  int columns() const;
  std::string name(int column) const;
  /// The object id of its type (pg_type.dat).
  unsigned type(int column) const;
  bool has(int row, int column) const;
  /// Empty for NULL.
  std::string_view bytes(int row, int column) const;
  /// How many rows an INSERT, UPDATE or DELETE changed.
  std::int64_t changed() const;

 private:
  friend class Connection;
  static void clear(pg_result* result);
  std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
};

/// An argument in the form in which the server reads it; none: NULL.
using Argument = std::optional<std::string>;

/// One connection to a PostgreSQL server, through libpq (version 5), which is loaded with dlopen on first use. One
/// thread at a time. Nothing of it is kept in the server's session, so that pgbouncer may stand between in transaction
/// mode.
class Connection {
 public:
  /// `where`: what psql takes ("host=... dbname=..." or a URI; the PG* variables and ~/.pgpass hold).
  /// Fault::unsupported without libpq, Fault::refused where the server does not let this user in, Fault::missing where
  /// it has no such database, Fault::unavailable where it does not answer. Waits ten seconds at most, unless `where`
  /// names another connect_timeout.
  static Result<Connection> open(const std::string& where);

  /// Runs one statement with arguments for $1, $2, ...
  tl::expected<Answer, SqlFailure> run(const std::string& sql, std::span<const Argument> arguments = {});
  /// Runs statements without arguments, all in one message; the answer of the last one.
  tl::expected<Answer, SqlFailure> script(const std::string& sql);
  /// Runs one query and takes its answer row by row: `on_row` gets answers of one row each, and ends it with false.
  /// After an end before the last row the connection can only be closed.
  tl::expected<void, SqlFailure> stream(const std::string& sql, const std::function<bool(const Answer&)>& on_row);

 private:
  explicit Connection(pg_conn* connection) : connection_(connection, &finish) {}
  static void finish(pg_conn* connection);
  SqlFailure failure() const;
  SqlFailure failure_of(const Answer& answer) const;
  tl::expected<Answer, SqlFailure> checked(pg_result* result) const;

  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

/// Items as one argument of an array type. `write` makes the text of an item.
template <class Items, class Write>
std::string array_of(const Items& items, Write write) {
  std::string array = "{";
  for (const auto& item : items) {
    if (array.size() > 1) array += ',';
    const std::optional<std::string> text = write(item);
    if (!text) {
      array += "NULL";
      continue;
    }
    array += '"';
    for (const char c : *text) {
      if (c == '"' || c == '\\') array += '\\';
      array += c;
    }
    array += '"';
  }
  return array + '}';
}

/// Any bytes as text that a server's UTF-8 can keep, and back. A file's name need not be UTF-8: a byte that is none
/// becomes the character U+10FF00 and that byte, from a plane that Unicode leaves to private use. NUL, too, and a
/// character of these itself, byte by byte; so that every text comes back as it was.
std::string as_utf8(std::string_view bytes);
std::string bytes_of_utf8(std::string_view text);

}  // namespace tutti::postgres
