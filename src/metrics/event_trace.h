#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "metrics/perfetto_track.h"

namespace tutti {

/// The variable that names a folder, for who starts a command and wants its trace. Children inherit it: each process
/// that has something to write makes a file there.
inline constexpr const char* kTraceVariable = "TUTTI_TRACE_FOLDER";

/// What the threads of this process do, row by row, in a file of Perfetto's format. What cannot be written is left out:
/// a trace ends no run. Thread-safe.
class EventTrace {
 public:
  class Row;
  /// A row of this process's trace, where TUTTI_TRACE_FOLDER names one; none: nothing is traced, and it costs nothing.
  static std::unique_ptr<Row> row_of_process(const std::string& name);

  /// Into a new file in `folder`. `name` is what the process is shown as.
  EventTrace(const std::filesystem::path& folder, std::string_view name);

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

  OwnedFd file_{};
  std::uint32_t process_ = 0;  // its number in the trace
  Guarded<Rows> rows_{};
};

/// All traces that processes left in `folder`, as one; `command` goes into its first packet, behind kPerfettoMark. The
/// file is in `folder`. Fault::missing where there is none.
Result<std::filesystem::path> join_traces(const std::filesystem::path& folder, const std::string& command);

}  // namespace tutti
