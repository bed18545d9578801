#pragma once

#include "base/clock.h"
#include "base/units.h"

namespace tutti {

/// When a runner that finds no work ends. The time runs from the end of its latest job, never while one is in work, and
/// the queue must have been found empty twice after it was over. Pure.
class IdleTimer {
 public:
  explicit IdleTimer(Seconds limit) : limit_(limit) {}

  /// A job was received or is in work: the queue counts as not empty.
  void busy() { empty_ = 0; }

  /// The queue was found empty while nothing is in work; `last_end`: of the latest job. True: the run may end.
  bool found_empty(Clock::Instant now, Clock::Instant last_end) {
    if (now - last_end < limit_) return false;
    return ++empty_ >= kLooks;
  }

  /// Until the time is over; 0: it is.
  Seconds left(Clock::Instant now, Clock::Instant last_end) const {
    const Seconds passed = now - last_end;
    return passed < limit_ ? limit_ - passed : Seconds(0);
  }

 private:
  static constexpr int kLooks = 2;

  const Seconds limit_;
  int empty_ = 0;  // looks in a row that found nothing, since the time is over
};

}  // namespace tutti
