#pragma once

#include <chrono>

namespace tutti {

/// Where time comes from. Code that measures or waits takes a Clock, so that tests can move time by hand.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Instant now() const = 0;

  /// The machine's monotonic clock. Thread-safe, lives for the whole process.
  static const Clock& real();
};

}  // namespace tutti
