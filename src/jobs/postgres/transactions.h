#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/numbers.h"
#include "base/try.h"
#include "jobs/job.h"
#include "jobs/store_clock.h"
#include "postgres/connection.h"

namespace tutti::postgres {

/// Thrown by statements, inside this folder only: Transactions alone turns it into an error value, or tries again.
struct StatementError {
  SqlFailure failure;
};

/// A row of an answer. Columns count from 0.
class Row {
 public:
  Row(const Answer& answer, int row) : answer_(answer), row_(row) {}
  std::int64_t number(int column) const { return read<std::int64_t>(column); }
  int count(int column) const { return read<int>(column); }
  double real(int column) const { return read<double>(column); }
  bool is_true(int column) const { return answer_.bytes(row_, column) == "t"; }
  bool has(int column) const { return answer_.has(row_, column); }
  std::string text(int column) const { return bytes_of_utf8(answer_.bytes(row_, column)); }

 private:
  template <class Number>
  Number read(int column) const {
    return number_in<Number>(answer_.bytes(row_, column)).value_or(Number{});
  }

  const Answer& answer_;
  int row_;
};

/// An argument of an array type.
struct Array {
  std::string text{};
};
Array texts_of(const std::vector<std::string>& items);
Array numbers_of(const std::vector<std::int64_t>& items);

/// Statements of one transaction. They throw StatementError.
class Transaction {
 public:
  Transaction(Connection& connection, StoreTime time) : connection_(connection), time_(time) {}

  /// The server's clock as the transaction began.
  StoreTime time() const { return time_; }
  Connection& connection() { return connection_; }

  /// Runs one statement with arguments for $1, $2, ... and returns how many rows it changed.
  template <class... Arguments>
  std::int64_t run(const std::string& sql, const Arguments&... arguments) {
    return answer(sql, {argument(arguments)...}).changed();
  }

  /// Calls `take(row)` for every row of a statement's answer.
  template <class Take, class... Arguments>
  void rows(const std::string& sql, Take&& take, const Arguments&... arguments) {
    const Answer answered = answer(sql, {argument(arguments)...});
    for (int row = 0; row < answered.rows(); ++row) take(Row(answered, row));
  }

 private:
  Answer answer(const std::string& sql, const std::vector<Argument>& arguments);

  static Argument argument(std::int64_t value) { return std::to_string(value); }
  static Argument argument(int value) { return std::to_string(value); }
  static Argument argument(bool value) { return value ? "t" : "f"; }
  static Argument argument(double value) { return number_text(value); }
  static Argument argument(std::string_view text) { return as_utf8(text); }
  static Argument argument(const std::string& text) { return as_utf8(text); }
  static Argument argument(const char* text) { return as_utf8(text); }
  static Argument argument(const Array& array) { return array.text; }
  template <class T>
  static Argument argument(const std::optional<T>& value) {
    return value ? argument(*value) : std::nullopt;
  }

  Connection& connection_;
  StoreTime time_;
};

/// Transactions of any number of threads on a few connections to one server. A transaction that meets another one
/// (deadlock, serialisation, unique key), or whose connection is lost, is run again; one whose COMMIT got no answer
/// only where it has left no mark. A server that is away for less than half a minute costs time, no more.
class Transactions {
 public:
  /// `name`: of the store, for messages. `first` is a connection to `where`.
  Transactions(std::string where, std::string name, Connection first, const StoreClock& clock);

  /// Runs `work(transaction)` and returns its value, or the error that undid it. `work` may be called several times,
  /// and what it did before the last call is undone.
  template <class Work>
  auto change(Work&& work) -> Result<std::invoke_result_t<Work, Transaction&>> {
    return with_value(Kind::change, std::forward<Work>(work));
  }
  /// The same, without waiting for the server's disk: a crash of the server within a second may undo it. For claims and
  /// renewals: a claim that is undone is a job that is queued again, and its holder's token is void. A result is
  /// recorded by `change`, and what a commit wrote before is on the disk with it.
  template <class Work>
  auto change_soon(Work&& work) -> Result<std::invoke_result_t<Work, Transaction&>> {
    return with_value(Kind::change_soon, std::forward<Work>(work));
  }
  /// The same for what only reads.
  template <class Work>
  auto look(Work&& work) -> Result<std::invoke_result_t<Work, Transaction&>> {
    return with_value(Kind::look, std::forward<Work>(work));
  }

  /// The server's clock, from the latest transaction's and the time that has passed here since.
  StoreTime now() const;
  /// From now on a server that does not answer is not waited for.
  void end_patience() { is_patient_ = false; }

 private:
  enum class Kind { change, change_soon, look };

  template <class Work>
  auto with_value(Kind kind, Work&& work) -> Result<std::invoke_result_t<Work, Transaction&>> {
    using Value = std::invoke_result_t<Work, Transaction&>;
    if constexpr (std::is_void_v<Value>) {
      return run(kind, std::forward<Work>(work));
    } else {
      std::optional<Value> value;
      TRY(run(kind, [&](Transaction& transaction) { value.emplace(work(transaction)); }));
      return std::move(*value);
    }
  }
  /// What a transaction that changes something leaves in the store, in the row of its connection. It is there once that
  /// has committed. The number of the transaction itself would not do: after a crash the server may give the number
  /// of one that was lost to another, which commits.
  struct Mark {
    std::string writer{};
    std::int64_t number = 0;
  };
  struct Pooled {
    Connection connection;
    Mark last;
  };

  Result<void> run(Kind kind, const std::function<void(Transaction&)>& work);
  /// One try; `unknown` becomes the mark of a transaction whose COMMIT got no answer.
  tl::expected<void, SqlFailure> attempt(Kind kind, Pooled& pooled, const std::function<void(Transaction&)>& work,
                                         std::optional<Mark>& unknown);
  static tl::expected<bool, SqlFailure> has_committed(Connection& connection, const Mark& mark);
  static Pooled pooled(Connection connection);
  Result<Pooled> take();
  void put_back(std::optional<Pooled> pooled);
  Error error_of(const SqlFailure& failure) const;

  const std::string where_, name_;
  const StoreClock& clock_;
  std::atomic<std::int64_t> ahead_ = 0;  // of the server's clock before this machine's time since boot, in ms
  std::atomic<bool> is_patient_ = true;
  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pooled> idle_ TUTTI_GUARDED_BY(mutex_);
  int open_ TUTTI_GUARDED_BY(mutex_) = 0;  // idle ones and those in use
};

}  // namespace tutti::postgres
