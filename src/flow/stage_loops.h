#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "flow/channel.h"
#include "flow/stage.h"
#include "flow/turnstile.h"

namespace tutti {

/// Hands one item on from a one-to-many stage; waits for space. Only for the thread that was given it. False: there is
/// no reader any more, so there is no use in going on.
template <class T>
using Emit = std::function<bool(T&&)>;

/// Where a stage writes, in its order. Copies share the writing end.
template <class T>
struct StageOutput {
  Writer<T> writer;
  std::shared_ptr<Turnstile<T>> turnstile;  // set where input order is kept; it then has the writer

  StageOutput(Writer<T> end, const StageOptions& options) {
    if (options.order == Order::input)
      turnstile = std::make_shared<Turnstile<T>>(std::move(end), options.window);
    else
      writer = std::move(end);
  }
  std::uint64_t enter() const { return turnstile ? turnstile->enter() : 0; }
};

/// What one input item leads to. Gives the turnstile up if the item is never finished, so that no thread waits for it.
template <class T>
class ItemOutput {
 public:
  ItemOutput(const StageOutput<T>& out, Worker& me, std::uint64_t ticket) : out_(out), me_(me), ticket_(ticket) {}
  ItemOutput(const ItemOutput&) = delete;
  ItemOutput& operator=(const ItemOutput&) = delete;
  ~ItemOutput() {
    if (out_.turnstile && !is_finished_) out_.turnstile->give_up();
  }

  bool emit(T&& item) {
    me_.turn(Activity::blocked);
    const bool is_out =
        out_.turnstile ? out_.turnstile->emit(ticket_, held_, std::move(item)) : out_.writer.push(std::move(item));
    me_.turn(Activity::busy);
    if (is_out) me_.count_out();
    return is_out;
  }
  bool finish() {
    me_.count_done();
    if (!out_.turnstile) return true;
    me_.turn(Activity::blocked);
    const bool is_out = out_.turnstile->finish(ticket_, std::move(held_));
    is_finished_ = true;
    return is_out;
  }

 private:
  const StageOutput<T>& out_;
  Worker& me_;
  const std::uint64_t ticket_;
  std::vector<T> held_;
  bool is_finished_ = false;
};

/// `fn(args...)`, an exception turned into the stage's error.
template <class Fn, class... Args>
auto call_guarded(const Worker& me, Fn& fn, Args&&... args) -> std::invoke_result_t<Fn&, Args...> {
  try {
    return std::invoke(fn, std::forward<Args>(args)...);
  } catch (...) {
    return tl::unexpected<Error>(error_of_exception(me.stage_name()));
  }
}

/// The next input item, the thread being busy from then on. Empty: the loop returns.
template <class In, class Taken>
std::optional<In> next_item(Worker& me, const Reader<In>& in, Taken taken) {
  for (;;) {
    me.turn(Activity::starved);
    auto item = in.pop_unless([&] { return me.is_surplus(); }, taken);
    if (item) {
      me.turn(Activity::busy);
      me.count_in();
      return item;
    }
    if (me.may_leave() || in.is_exhausted()) return std::nullopt;
  }
}

template <class Out, class Generator>
void source_loop(Worker& me, Generator& generator, const Writer<Out>& out) {
  const auto call = [&]() -> std::optional<Result<Out>> {
    try {
      return generator();
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception(me.stage_name()));
    }
  };
  while (auto made = call()) {
    me.count_done();
    if (*made) {
      me.turn(Activity::blocked);
      if (!out.push(std::move(**made))) return;
      me.turn(Activity::busy);
      me.count_out();
    } else if (!me.survives(std::move(made->error()))) {
      return;
    }
  }
}

template <class In, class Out, class Fn>
void flat_map_loop(Worker& me, const Reader<In>& in, Fn& fn, const StageOutput<Out>& out) {
  std::uint64_t ticket = 0;
  while (auto item = next_item(me, in, [&] { ticket = out.enter(); })) {
    ItemOutput<Out> mine(out, me, ticket);
    bool is_read = true;
    const Emit<Out> emit = [&](Out&& made) { return is_read = is_read && mine.emit(std::move(made)); };
    Result<void> done = call_guarded(me, fn, std::move(*item), emit);
    if (!is_read) return;
    if (!done && !me.survives(std::move(done.error()))) return;
    if (!mine.finish()) return;
  }
}

template <class In, class Fn>
void sink_loop(Worker& me, const Reader<In>& in, Fn& fn) {
  while (auto item = next_item(me, in, [] {})) {
    Result<void> done = call_guarded(me, fn, std::move(*item));
    me.count_done();
    if (!done && !me.survives(std::move(done.error()))) return;
  }
}

}  // namespace tutti
