#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tutti {

/// A moment or a length of a trace. Its clock begins anywhere.
using Nanoseconds = std::int64_t;

enum class DeviceWorkKind : std::uint8_t { compute, communication, copy };

/// What a stream of a device did: a kernel, a copy, a memory set.
struct DeviceWork {
  Nanoseconds start = 0, end = 0;
  std::optional<Nanoseconds> launched{};  ///< when the host's call began; none: the trace does not have it
  std::int64_t stream = 0;
  DeviceWorkKind kind = DeviceWorkKind::compute;
};

/// Why a device was idle, as Holistic Trace Analysis splits it: the host wait is each gap whose next work was launched
/// after the gap began; the kernel wait is what else is shorter than a threshold; the rest has another reason, and so
/// has each gap before work whose launch is not known.
struct IdleSplit {
  Nanoseconds host_wait = 0;
  Nanoseconds kernel_wait = 0;
  Nanoseconds other = 0;
  Nanoseconds all() const { return host_wait + kernel_wait + other; }
};

/// What the host did, for the parts of a host wait.
enum class HostWork : std::uint8_t {
  data_loading,  ///< it waited for a batch of a DataLoader
  synchronising  ///< it waited for the device
};

/// A span of the host's time, half-open.
struct HostSpan {
  Nanoseconds start = 0, end = 0;
};

/// What a trace has of one device. Plain data.
struct DeviceTrace {
  Nanoseconds span = 0;                         ///< from the start of the first work to the end of the last
  Nanoseconds busy = 0;                         ///< some stream worked
  Nanoseconds communication = 0;                ///< only communication did
  Nanoseconds copying = 0;                      ///< nothing computed, a copy did
  IdleSplit idle{};                             ///< no stream worked; with `busy` it is the span
  std::map<std::int64_t, IdleSplit> streams{};  ///< each stream's own gaps, whatever the others did
  Nanoseconds data_loading = 0;                 ///< of the idle host wait: the host waited for a batch
  Nanoseconds synchronising = 0;                ///< of it: the host waited for the device
  std::size_t works = 0;
};

/// Adds up the work of one device as it comes, in bounded memory.
class DeviceTimeline {
 public:
  /// `kernel_gap`: gaps that are shorter are kernel waits.
  explicit DeviceTimeline(Nanoseconds kernel_gap) : kernel_gap_(kernel_gap) {}

  /// Work in the order of its starts. The idle host wait that it ends; none: it ends none.
  std::optional<HostSpan> add(const DeviceWork& work);

  /// The host spent that part of a host wait so.
  void explain(HostWork work, Nanoseconds part);

  const DeviceTrace& trace() const { return trace_; }

 private:
  DeviceTrace trace_{};
  Nanoseconds kernel_gap_;
  Nanoseconds first_ = 0;
  Nanoseconds all_ = 0, own_ = 0, compute_ = 0;    // until when: any work, all but communication, compute alone
  Nanoseconds own_time_ = 0, compute_time_ = 0;    // of these
  std::map<std::int64_t, Nanoseconds> streams_{};  // until when each worked
};

/// What limits a device, by its trace.
enum class TraceLimit { device, communication, copying, host_wait, kernel_wait, other };

/// As a key of JSON: "host_wait".
std::string_view name_of(TraceLimit limit);

/// What limits a device and what to change.
struct TraceFinding {
  TraceLimit limit = TraceLimit::device;
  std::string cause{};   ///< "data loading", "launch thread", "device compute"
  double share = 0;      ///< of the span, 0 to 1
  double gain = 0;       ///< the most that there is to gain, as a share of the rate: without that time; 0: unknown
  std::string change{};  ///< what to do about it
};

/// Pure.
TraceFinding finding_of(const DeviceTrace& trace);

}  // namespace tutti
