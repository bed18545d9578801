#pragma once

#include <condition_variable>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/units.h"

namespace tutti {

/// A clock that goes as the machine's does, but at half the speed while some thread holds it back. Thread-safe.
///
/// So it has the times of a run with a stage that works twice as fast. A thread of that stage holds the clock back
/// while it works; a thread of any other stage that has worked then sleeps until the clock has gone on by as much. What
/// waits for others needs nothing, for these have slept. Times of this clock are those of the other run: exact where
/// each thread that works has a core, for time in which one waits for a core counts as work. Coz (Curtsinger and
/// Berger, 2015) calls it a virtual speed-up.
class VirtualClock {
 public:
  /// Since its construction.
  Seconds now() const;
  /// By how much it is behind the machine's clock.
  Seconds delays() const;

  /// Until it is `at`; false: `stop` was called before.
  bool sleep_until(Seconds at);
  /// Wakes all who sleep, or will.
  void stop();

  /// Holds the clock back while it is there.
  class Hold {
   public:
    explicit Hold(VirtualClock& clock) : clock_(clock) { clock_.change_holds(1); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { clock_.change_holds(-1); }

   private:
    VirtualClock& clock_;
  };

 private:
  Seconds now_at(Clock::Instant instant) const TUTTI_REQUIRES(mutex_);
  void change_holds(int by);

  const Clock::Instant start_ = Clock::real().now();
  mutable Mutex mutex_;
  std::condition_variable changed_;          // its speed, or that it is stopped
  Seconds then_ TUTTI_GUARDED_BY(mutex_){};  // its time at `changed_at_`
  Clock::Instant changed_at_ TUTTI_GUARDED_BY(mutex_) = start_;
  int holds_ TUTTI_GUARDED_BY(mutex_) = 0;
  bool is_stopped_ TUTTI_GUARDED_BY(mutex_) = false;
};

/// A stage that works twice as fast, by a clock.
struct VirtualSpeedup {
  explicit VirtualSpeedup(std::string of_stage) : stage(std::move(of_stage)) {}

  const std::string stage;
  VirtualClock clock{};

  /// That which recording_request() has; nullptr: none, and it costs nothing.
  static VirtualSpeedup* of_process();
};

}  // namespace tutti
