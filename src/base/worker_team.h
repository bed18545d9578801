#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/mutex.h"

namespace tutti {

/// Threads that help a caller with the parts of a short loop, thousands of loops a second.
///
/// A part is claimed by whichever thread comes first. The caller claims parts too and waits only for helpers that have
/// started one, so a helper without a core delays no caller. Threads that wait spin for microseconds of the clock, then
/// sleep: threads that share a core with each other or with another program soon release it.
///
/// One caller at a time has the helpers. A second one, or a loop inside a part, runs all its parts by itself.
class WorkerTeam {
 public:
  struct Options {
    /// How long a helper looks for the next loop before it sleeps: longer than the time between two loops.
    std::chrono::nanoseconds helper_spin = std::chrono::microseconds(100);
    /// How long a caller looks whether helpers are done with what they have started before it sleeps.
    std::chrono::nanoseconds caller_spin = std::chrono::microseconds(30);
    /// Called first by every helper.
    std::function<void()> on_helper_start{};
  };

  /// What loops came to since the team exists.
  struct Totals {
    std::int64_t loops = 0;  // with helpers
    std::int64_t parts = 0;  // parts of these loops
    std::int64_t helper_parts = 0;
    std::chrono::nanoseconds waited{};  // by callers, for parts that helpers had started
  };

  /// Hands out the parts of one loop to one thread.
  class Claims {
   public:
    /// The index of a part that no other thread has or will get; nothing when all are claimed.
    std::optional<std::int64_t> next();

   private:
    friend class WorkerTeam;
    Claims(WorkerTeam* team, std::int64_t first, std::int64_t parts) : team_(team), held_(first), parts_(parts) {}

    WorkerTeam* team_;        // none: all parts are this thread's
    std::int64_t held_ = -1;  // claimed when the thread entered, not handed out yet
    std::int64_t parts_ = 0;  // without a team
    std::int64_t claimed_ = 0;
  };

  explicit WorkerTeam(Options options);
  WorkerTeam() : WorkerTeam(Options{}) {}
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  /// No caller may be in `run`.
  ~WorkerTeam();

  /// Calls body(claims) on at most `threads` threads, the caller's among them, until every part in [0, parts) is
  /// claimed, and returns when all have returned. The body runs each part that it claims before it claims the next.
  /// If a body throws, parts that are not claimed yet are skipped and the first exception is rethrown.
  template <class Fn>
  void run(std::int64_t parts, std::int64_t threads, Fn&& body) {
    using Called = std::remove_reference_t<Fn>;
    run_body(parts, threads,
             {[](void* fn, Claims& claims) { (*static_cast<Called*>(fn))(claims); },
              const_cast<void*>(static_cast<const void*>(&body))});
  }

  Totals totals() const;

 private:
  struct Body {
    void (*call)(void*, Claims&) = nullptr;
    void* fn = nullptr;
  };
  struct Helper;

  void run_body(std::int64_t parts, std::int64_t threads, Body body);
  void run_shared(std::int64_t parts, std::int64_t threads, Body body) TUTTI_REQUIRES(taken_);
  void start_helpers(std::int64_t wanted) TUTTI_REQUIRES(taken_);
  void publish(std::int64_t parts, std::int64_t helpers) TUTTI_REQUIRES(taken_);
  std::int64_t call(Claims& claims);
  void help(Helper& me);
  std::optional<std::int64_t> wait_for_part(Helper& me);
  bool is_beside_caller() const;
  std::optional<std::int64_t> claim(std::int64_t helper);
  std::int64_t abandon_rest();
  std::chrono::nanoseconds wait_for_finished(std::uint32_t parts);

  const Options options_;
  Mutex taken_;  // by the caller that has the helpers
  std::vector<std::unique_ptr<Helper>> helpers_ TUTTI_GUARDED_BY(taken_){};
  Totals totals_{};  // the caller's
  std::exception_ptr failure_{};
  std::atomic<bool> failed_ = false;
  std::atomic<bool> closing_ = false;
  Body body_{};  // stays until no part of it is unfinished

  // What helpers look at while they wait: helpers that may claim, parts, parts claimed (see the source).
  alignas(64) std::atomic<std::uint64_t> loop_ = 0;
  std::atomic<pid_t> caller_ = 0;                        // the thread that published it
  std::atomic<int> processor_ = -1;                      // where that was
  alignas(64) std::atomic<std::uint32_t> finished_ = 0;  // parts, by helpers
  std::atomic<std::uint32_t> caller_sleeps_ = 0;
};

}  // namespace tutti
