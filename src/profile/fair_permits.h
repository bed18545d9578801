#pragma once

#include <condition_variable>
#include <deque>
#include <optional>

#include "base/mutex.h"
#include "base/units.h"

namespace tutti {

/// Emulated cores, or an emulated device: so many permits, given to threads in the order in which they wait for one.
/// Thread-safe.
///
/// Permits carry the time at which they were released by the run's clock, so that a thread that the machine wakes late
/// works from the moment at which it could have begun.
class FairPermits {
 public:
  explicit FairPermits(int count) : free_(static_cast<std::size_t>(count), Seconds(0)) {}

  /// Waits for a permit; the caller has wanted it since `wanted`. Returns from when on it has it; none: `stop` was
  /// called.
  std::optional<Seconds> acquire(Seconds wanted);
  /// Since `at` the permit is free.
  void release(Seconds at);
  /// Sends away all who wait, or come.
  void stop();

 private:
  struct Waiter {
    std::condition_variable called;
    std::optional<Seconds> permit{};
  };

  Mutex mutex_;
  std::deque<Seconds> free_ TUTTI_GUARDED_BY(mutex_);       // since when
  std::deque<Waiter*> waiting_ TUTTI_GUARDED_BY(mutex_){};  // each on the stack of its thread
  bool is_stopped_ TUTTI_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti
