#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "advise/device_trace.h"

namespace tutti {

/// Where the times of a trace are. An event that is far from them has lost its time.
struct TimeRange {
  Nanoseconds first = 0, last = 0;

  /// Whether a span of the host belongs to the trace: neither end is away from the range by more than ten minutes, and
  /// by more than ten times its length. A span that begins at 0, which profilers write for a lost time, may be away by
  /// a minute, or by the range's length.
  bool has(HostSpan span) const;
  /// Whether a device's work does, of whose starts the range is made: its start is not away from the range by more than
  /// a second, and by more than a hundred times the range's length, twice it for a start of 0; its end not by more than
  /// a minute, and by more than a hundred times that.
  bool has_work(HostSpan span) const;
};

/// Finds where most events of a trace are, from their starts in any order, in bounded memory. One thread.
class TraceTimes {
 public:
  /// A start of 0 counts as lost.
  void add(Nanoseconds start);

  /// Of the most events that no long gap divides; 0 to 0 where there are none. A few events are not of it that are away
  /// from three quarters of all by more than a second, and by more than a hundred times the length of these.
  TimeRange range() const;

 private:
  struct Part {
    std::size_t count = 0;
    TimeRange range{};
    void add(const Part& other);
  };

  std::vector<Part> parts_between(Nanoseconds gap) const;

  std::map<std::int64_t, Part> parts_{};  // by start over width
  Nanoseconds width_ = 1'000'000'000;
  Part* last_ = nullptr;  // with the event before
  std::int64_t last_key_ = 0;
};

}  // namespace tutti
