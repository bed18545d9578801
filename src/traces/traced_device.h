#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/device_trace.h"
#include "advise/repeated_steps.h"

namespace tutti {

/// How a trace is looked at.
struct TraceOptions {
  std::int32_t kernel_gap = 30;  ///< ns; shorter gaps are kernel waits
  std::string step{};            ///< each event whose name begins so is a step; empty: ProfilerStep#, or what repeats
};

/// By what steps were found.
enum class StepSource : std::uint8_t { named, profiler, optimizer, pattern, none };

/// "ProfilerStep#", "what repeats".
std::string_view name_of(StepSource source);

/// What one trace has of one device.
struct TracedDevice {
  int rank = 0;
  std::string file{};
  std::int32_t process = 0;  ///< its number in the trace; 0 where there is one
  std::int32_t device = 0;
  std::size_t left_out = 0;  ///< events of its file that have no time
  StepCount steps{};
  StepSource step_source = StepSource::none;
  DeviceTrace trace{};
};

/// A table with a line per device, what limits the slowest rank, and what to change.
std::string trace_text(const std::vector<TracedDevice>& devices);

/// The same as one JSON object, without a line end: "ranks", each with rank, file, device, steps, step_ms, steps_by,
/// device_busy, idle (host_wait, kernel_wait, other: shares of the span, which with device_busy add up to 1), span_ms,
/// communication, copying, data_loading, synchronising (shares, too), left_out, limit, cause, gain, change, streams
/// (each with stream and its own idle times in ms); and "slowest" with rank, file, lag and by; null for a single rank.
std::string trace_json(const std::vector<TracedDevice>& devices);

}  // namespace tutti
