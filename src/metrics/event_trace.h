#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "metrics/perfetto_track.h"
#include "metrics/shared_trace.h"

namespace tutti {

/// What the threads of this process do, row by row, in the trace of a run (shared_trace.h). What cannot be written is
/// left out: a trace ends no run. Thread-safe.
class EventTrace {
 public:
  class Row;
  /// A row of this process's trace; none: the run is not traced, and it costs nothing.
  static std::unique_ptr<Row> row_of_process(const std::string& name);

  /// `name` is what the process is shown as.
  EventTrace(std::unique_ptr<SharedTrace> trace, std::string_view name);

  /// A row of the trace while a thread has it: one thread at a time.
  class Row {
   public:
    Row(EventTrace& trace, std::string name);
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row();

    void slice(std::string_view name, Clock::Instant start, Clock::Instant end);
    /// Has what was noted be in the file: else it is within a second of the next slice, or with the row's end.
    void write();

   private:
    EventTrace& trace_;
    const std::string name_;
    std::unique_ptr<PerfettoTrack> track_;  // none: there are too many
    Clock::Instant written_ = Clock::real().now();
  };

 private:
  using Tracks = std::vector<std::unique_ptr<PerfettoTrack>>;
  struct Rows {
    std::map<std::string, int> made{};       // by name
    std::map<std::string, Tracks> unused{};  // of threads that have ended
    std::uint32_t count = 0;
  };

  std::unique_ptr<PerfettoTrack> take_row(const std::string& name);
  void return_row(const std::string& name, std::unique_ptr<PerfettoTrack> track);
  void write(PerfettoTrack& track) const;

  std::unique_ptr<SharedTrace> trace_;
  std::uint32_t process_;  // its number in the trace
  Guarded<Rows> rows_{};
};

/// The first bytes of a trace: the process that runs `command`, behind kPerfettoMark.
std::string trace_head(const std::string& command);

}  // namespace tutti
