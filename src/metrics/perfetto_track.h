#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tutti {

/// A moment of the machine's monotonic clock, as traces have it.
using TraceTime = std::chrono::nanoseconds;

/// One row of a trace in Perfetto's format: its slices as TrackEvents, about 20 bytes each. A trace is the bytes of all
/// rows, one after the other in any order. Each row is a sequence of packets of its own, with names that are written
/// once and times that count from the packet before. Pure; one thread.
///
/// The field numbers are those of perfetto/protos/perfetto/trace.
class PerfettoTrack {
 public:
  /// `sequence` is the row's alone in the whole trace, at least 1. `parent`: the sequence of its process. A
  /// row without slices takes no bytes.
  PerfettoTrack(std::uint32_t sequence, std::uint32_t parent, std::string_view name);

  /// What went on from `start` to `end`. Slices of a row come in order; one that begins before the end of the last one
  /// is cut there.
  void slice(std::string_view name, TraceTime start, TraceTime end);

  /// Bytes that were not taken yet.
  std::size_t size() const { return bytes_.size(); }
  /// The packets since the last call, whole.
  std::string take();

 private:
  void event(std::uint64_t type, std::uint64_t name, TraceTime at, std::string_view new_name);
  void begin(TraceTime at);

  std::string bytes_{};
  std::string name_;
  std::uint32_t sequence_, parent_;
  bool has_begun_ = false;
  TraceTime last_{};
  std::map<std::string, std::uint64_t, std::less<>> names_{};
};

/// The packet that describes a process, the parent of its rows. `command`: its words, for who looks at it.
std::string perfetto_process(std::uint32_t sequence, int process, std::string_view name,
                             const std::string& command = {});

/// What a trace of ours has in its first 512 bytes, in the command of its first process.
inline constexpr const char* kPerfettoMark = "tutti-trace";

}  // namespace tutti
