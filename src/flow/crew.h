#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <list>
#include <thread>

#include "base/guarded.h"

namespace tutti {

/// Threads that all run one loop and whose number changes while they run.
///
/// The loop is called with the crew and returns for one of two reasons: `may_leave()` let this thread go because there
/// are too many, or the work is over. After the first thread for which the work is over none is started any more and
/// the crew destroys the loop, with whatever the loop holds; each thread works on a copy of its own.
class Crew {
 public:
  using Loop = std::function<void(Crew&)>;

  struct Hooks {
    std::function<void()> nudge{};  ///< makes threads that wait for input look at `is_too_many` again
    std::function<void(std::exception_ptr)> failed{};  ///< the loop threw; the thread ends as if the work were over
  };

  Crew(Loop loop, int threads, Hooks hooks);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Joins; the crew's owner has seen to it that the loops end.
  ~Crew() { join(); }

  /// Starts the threads. Throws std::system_error where the system refuses one.
  void start();
  /// Sets the number of threads, at least one. Surplus threads leave at their loop's next call of `may_leave`. Without
  /// effect once the work is over. Throws as `start` does.
  void resize(int threads);

  /// For loops, cheap: whether a thread should call `may_leave`.
  bool is_too_many() const { return too_many_.load(std::memory_order_relaxed); }
  /// For loops: true lets the calling thread, and exactly it, go.
  bool may_leave();

  bool is_over() const {
    return state_.with([](const State& state) { return !state.loop && state.live == 0; });
  }
  /// Waits until the work is over and every thread is gone.
  void join();

 private:
  struct Member {
    std::thread thread;
    bool is_done = false;
  };
  struct State {
    Loop loop;
    int wanted = 1;
    int live = 0;
    bool is_started = false;
    std::list<Member> members;
  };

  void fill(State& state);
  void launch(State& state);
  void work(Loop loop, Member& me);
  void note_surplus(const State& state) { too_many_.store(state.live > state.wanted, std::memory_order_relaxed); }

  Hooks hooks_;
  std::atomic<bool> too_many_ = false;
  Guarded<State> state_;
};

}  // namespace tutti
