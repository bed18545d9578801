#pragma once

#include <chrono>

namespace tutti {

/// Where time comes from. Code that measures or waits takes a Clock, so that tests can move time by hand.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Instant now() const = 0;

  /// The machine's monotonic clock. Thread-safe, valid until the process ends.
  static const Clock& real();
};

/// A moment of the wall clock as seconds since 1970, as records, metrics and other tools' files name it.
template <class Duration>
double unix_seconds(std::chrono::time_point<std::chrono::system_clock, Duration> at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

}  // namespace tutti
