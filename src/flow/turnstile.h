#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "flow/channel.h"

namespace tutti {

/// Puts the output of several threads back into the order of their input, with bounded memory. Thread-safe.
///
/// Each input item draws a ticket as it leaves the queue. What tickets before their turn produce is held: at most
/// `window` finished tickets, and `window` items per unfinished one. A thread that is further ahead waits. It cannot
/// deadlock: the thread whose turn it is waits for nothing but space in the output, and every thread that waits here
/// waits for an earlier ticket.
template <class T>
class Turnstile {
 public:
  Turnstile(Writer<T> out, std::size_t window) : out_(std::move(out)), window_(std::max<std::size_t>(window, 1)) {}

  /// The next ticket. Called under the input queue's lock, so that tickets follow the queue's order.
  std::uint64_t enter() { return entered_.fetch_add(1, std::memory_order_relaxed); }

  /// One item of `ticket`. `held` is the ticket's own store, kept by the caller. False: there is no reader any more.
  bool emit(std::uint64_t ticket, std::vector<T>& held, T&& item) {
    if (!is_turn_of(ticket)) {
      if (held.size() < window_) {
        held.push_back(std::move(item));
        return true;
      }
      if (!await_turn(ticket)) return false;
    }
    return flush(held) && (out_.push(std::move(item)) || give_up());
  }

  /// The ticket has produced all it will. False: there is no reader any more.
  bool finish(std::uint64_t ticket, std::vector<T> held) {
    enum class Then { deliver, leave, stop };
    const auto may_settle = [&](const State& s) { return s.is_over || ticket < s.turn + window_; };
    const Then then = state_.wait(may_settle, [&](State& s) {
      if (s.is_over) return Then::stop;
      if (s.turn == ticket) return Then::deliver;
      s.done.emplace(ticket, std::move(held));
      return Then::leave;
    });
    if (then != Then::deliver) return then == Then::leave;
    while (flush(held)) {
      if (!advance(held)) return true;
    }
    return false;
  }

  /// A ticket will never finish: everyone who waits, or comes, is sent away.
  bool give_up() {
    state_.change([](State& s) { s.is_over = true; });
    return false;
  }

 private:
  struct State {
    std::uint64_t turn = 0;                        // the ticket that may write; everything before it is out
    std::map<std::uint64_t, std::vector<T>> done;  // finished before their turn
    bool is_over = false;
  };

  bool is_turn_of(std::uint64_t ticket) const {
    return state_.with([&](const State& s) { return s.turn == ticket; });
  }
  bool await_turn(std::uint64_t ticket) {
    return state_.wait([&](const State& s) { return s.is_over || s.turn == ticket; },
                       [](State& s) { return !s.is_over; });
  }
  bool flush(std::vector<T>& held) {
    for (auto& item : held)
      if (!out_.push(std::move(item))) return give_up();
    held.clear();
    return true;
  }
  /// Passes the turn on. True where the next ticket is done already: `held` is then its store, ours to deliver.
  bool advance(std::vector<T>& held) {
    bool is_ours = false;
    state_.change([&](State& s) {
      ++s.turn;
      auto next = s.done.extract(s.turn);
      is_ours = !next.empty();
      if (is_ours) held = std::move(next.mapped());
    });
    return is_ours;
  }

  const Writer<T> out_;
  const std::size_t window_;
  std::atomic<std::uint64_t> entered_ = 0;
  Guarded<State> state_;
};

}  // namespace tutti
