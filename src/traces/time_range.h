#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "advise/device_trace.h"

namespace tutti {

/// Where the times of a trace are. An event that is far from them has lost its time.
struct TimeRange {
  Nanoseconds first = 0, last = 0;

  /// Whether a span belongs to the trace: neither end is away from the range by more than ten minutes, and by more than
  /// ten times its length. A span that begins at 0, which profilers write for a lost time, may be away by a minute, or
  /// by the range's length.
  bool has(HostSpan span) const;
};

/// Finds where most events of a trace are, from their starts in any order, in bounded memory. One thread.
class TraceTimes {
 public:
  /// A start of 0 counts as lost.
  void add(Nanoseconds start);

  /// Of the most events that no long gap divides; 0 to 0 where there are none.
  TimeRange range() const;

 private:
  struct Part {
    std::size_t count = 0;
    TimeRange range{};
    void add(const Part& other);
  };

  std::map<std::int64_t, Part> parts_{};  // by start over width
  Nanoseconds width_ = 600'000'000'000;
  Part* last_ = nullptr;  // with the event before
  std::int64_t last_key_ = 0;
};

}  // namespace tutti
