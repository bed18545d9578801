#include "jobs/postgres/transactions.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/random/kernel_random.h"
#include "base/try.h"

namespace tutti::postgres {
namespace {

using namespace std::chrono_literals;

constexpr int kMostConnections = 4;  // of a process: twenty of them fit into a server's usual hundred
constexpr auto kPatience = 30s;      // with a server that restarts
constexpr int kMostCollisions = 50;
// A process that is stopped within a transaction would hold its rows, and all who wait for them, for ever.
constexpr const char* kBeginChange = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'; ";

bool is_of_class(const SqlFailure& failure, std::string_view digits) {
  return failure.sqlstate.starts_with(digits);
}

/// The server ends, or the connection did.
bool is_away(const SqlFailure& failure) {
  return failure.is_lost || is_of_class(failure, "08") || is_of_class(failure, "57P") || failure.sqlstate == "25P03";
}

/// Another transaction was in the way, and the same one may succeed now.
bool is_collision(const SqlFailure& failure) {
  constexpr std::array<std::string_view, 4> kCollisions{"40001", "40P01", "23505", "55P03"};
  return std::ranges::any_of(kCollisions, [&](std::string_view state) { return failure.sqlstate == state; });
}

/// Full jitter, so that what met once does not meet again.
void wait_a_little(int attempt, std::chrono::milliseconds longest) {
  const double most = std::min<double>(static_cast<double>(longest.count()), 5.0 * (1 << std::min(attempt, 10)));
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(most * (0.1 + 0.9 * random_fraction())));
}

}  // namespace

Array texts_of(const std::vector<std::string>& items) {
  return {array_of(items, [](const std::string& item) { return Argument(as_utf8(item)); })};
}

Array numbers_of(const std::vector<std::int64_t>& items) {
  return {array_of(items, [](std::int64_t item) { return Argument(std::to_string(item)); })};
}

Answer Transaction::answer(const std::string& sql, const std::vector<Argument>& arguments) {
  auto answered = connection_.run(sql, arguments);
  if (!answered) throw StatementError{answered.error()};
  return std::move(*answered);
}

Transactions::Transactions(std::string where, std::string name, Connection first, const StoreClock& clock)
    : where_(std::move(where)), name_(std::move(name)), clock_(clock) {
  idle_.push_back(pooled(std::move(first)));
  open_ = 1;
}

Transactions::Pooled Transactions::pooled(Connection connection) {
  return {std::move(connection), {.writer = random_token()}};
}

StoreTime Transactions::now() const {
  return StoreTime(clock_.since_boot() + std::chrono::milliseconds(ahead_.load()));
}

Result<Transactions::Pooled> Transactions::take() {
  MutexLock lock(mutex_);
  changed_.wait(lock.held(), [&]() TUTTI_REQUIRES(mutex_) { return !idle_.empty() || open_ < kMostConnections; });
  if (!idle_.empty()) {
    Pooled taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  ++open_;
  lock.unlock();
  auto opened = Connection::open(where_);
  if (opened) return pooled(std::move(*opened));
  put_back({});
  return tl::unexpected(opened.error());
}

void Transactions::put_back(std::optional<Pooled> pooled) {
  {
    const MutexLock lock(mutex_);
    if (pooled)
      idle_.push_back(std::move(*pooled));
    else
      --open_;
  }
  changed_.notify_one();
}

tl::expected<bool, SqlFailure> Transactions::has_committed(Connection& connection, const Mark& mark) {
  // It waits for the row, which that transaction holds while it is open.
  const std::array<Argument, 1> arguments{mark.writer};
  const auto found =
      TRY(connection.run("INSERT INTO tutti_marks(writer, number, at) VALUES($1, 0, 0) "
                         "ON CONFLICT(writer) DO UPDATE SET at = tutti_marks.at RETURNING number",
                         arguments));
  return Row(found, 0).number(0) == mark.number;
}

tl::expected<void, SqlFailure> Transactions::attempt(Kind kind, Pooled& pooled,
                                                     const std::function<void(Transaction&)>& work,
                                                     std::optional<Mark>& unknown) {
  Connection& connection = pooled.connection;
  if (kind != Kind::look) ++pooled.last.number;
  const auto begun = connection.script(
      kind == Kind::look
          ? "BEGIN READ ONLY; SELECT tutti_now()"
          : kBeginChange + std::string(kind == Kind::change ? "" : "SET LOCAL synchronous_commit = off; ") +
                "INSERT INTO tutti_marks AS mark(writer, number, at) VALUES('" + pooled.last.writer + "', " +
                std::to_string(pooled.last.number) +
                ", tutti_now()) ON CONFLICT(writer) DO UPDATE "
                "SET number = excluded.number, at = excluded.at RETURNING at");
  if (!begun) {
    connection.script("ROLLBACK");
    return tl::unexpected(begun.error());
  }
  const StoreTime time(std::chrono::milliseconds(Row(*begun, 0).number(0)));
  ahead_ = (time.time_since_epoch() - clock_.since_boot()).count();
  Transaction transaction(connection, time);
  try {
    work(transaction);
  } catch (const StatementError& failed) {
    connection.script("ROLLBACK");
    return tl::unexpected(failed.failure);
  } catch (...) {
    connection.script("ROLLBACK");
    throw;
  }
  const auto committed = connection.script("COMMIT");
  if (committed) return {};
  if (kind != Kind::look && committed.error().is_lost) unknown = pooled.last;
  return tl::unexpected(committed.error());
}

Result<void> Transactions::run(Kind kind, const std::function<void(Transaction&)>& work) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::optional<Mark> unknown;
  for (int tries = 0, collisions = 0;; ++tries) {
    const bool is_over = !is_patient_ || std::chrono::steady_clock::now() >= until;
    auto pooled = take();
    if (!pooled) {
      if (is_over || pooled.error().fault != Fault::unavailable)
        return tutti::fail(pooled.error().fault, name_ + ": " + pooled.error().what, pooled.error().hint);
      wait_a_little(tries, 1000ms);
      continue;
    }
    tl::expected<void, SqlFailure> done;
    if (unknown) {
      const auto committed = has_committed(pooled->connection, *unknown);
      if (committed && *committed) {
        put_back(std::move(*pooled));
        return {};
      }
      if (committed)
        unknown.reset();
      else
        done = tl::unexpected(committed.error());
    }
    try {
      if (done) done = attempt(kind, *pooled, work, unknown);
    } catch (...) {
      put_back({});
      throw;
    }
    const bool is_usable = done || !is_away(done.error());
    put_back(is_usable ? std::optional(std::move(*pooled)) : std::nullopt);
    if (done) return {};
    const bool again = is_away(done.error()) ? !is_over : is_collision(done.error()) && ++collisions < kMostCollisions;
    if (!again) return tl::unexpected(error_of(done.error()));
    if (tries > 0 || !is_away(done.error())) wait_a_little(tries, 1000ms);  // an idle connection may just be an old one
  }
}

Error Transactions::error_of(const SqlFailure& failure) const {
  const std::string what = name_ + ": " + failure.text;
  if (failure.sqlstate == "53100") return {Fault::full, what, "Free some space on the server's disk"};
  if (is_away(failure) || is_of_class(failure, "53") || is_collision(failure))
    return {Fault::unavailable, what, "See whether the server runs and answers: try psql with that address"};
  if (failure.sqlstate == "42501" || failure.sqlstate == "25006")
    return {Fault::refused, what, "Grant the user of the address the right to write there, or name the primary server"};
  if (failure.sqlstate == "42P01" || failure.sqlstate == "42883" || is_of_class(failure, "XX"))
    return {Fault::corrupt, what, "Restore the database from a backup, or name another one"};
  return {Fault::internal, what};
}

}  // namespace tutti::postgres
