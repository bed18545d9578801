#pragma once

#include <atomic>

#include "base/clock.h"

namespace tutti {

/// A clock that only the test advances. Thread-safe.
class FakeClock final : public Clock {
 public:
  Instant now() const override { return Instant(std::chrono::nanoseconds(ticks_.load())); }
  void advance(std::chrono::nanoseconds by) { ticks_.fetch_add(by.count()); }

 private:
  std::atomic<std::chrono::nanoseconds::rep> ticks_ = 1'000'000'000;
};

}  // namespace tutti
