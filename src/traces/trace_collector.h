#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "advise/repeated_steps.h"
#include "base/error.h"
#include "traces/spilled_sort.h"
#include "traces/time_range.h"
#include "traces/traced_device.h"

namespace tutti {

/// Takes the events of a trace in any order, and finds what they say of each device. What does not fit into some 150 MB
/// is in temporary files without names. Every call's errors are those of these files. One thread.
class TraceCollector {
 public:
  explicit TraceCollector(TraceOptions options);

  /// Work of a device belongs to the host's call of the same process and correlation.
  struct Origin {
    std::int32_t process = 0;
    std::int64_t correlation = -1;  ///< less than 0: the trace does not say
  };

  /// A call of the host that may have launched work.
  Result<void> add_launch(Origin origin, std::string_view name, HostSpan span);

  /// Work of a device; `work.launched` is not read. Its name decides whether it is communication.
  Result<void> add_work(Origin origin, std::int32_t device, std::string_view name, DeviceWork work);

  /// What the host was in by its own words: steps and waits for a batch are noted.
  Result<void> add_annotation(std::int32_t process, std::string_view name, HostSpan span);

  /// Counts an event that would have counted, had it a time.
  void leave_out() { ++left_out_; }

  /// The devices in order of process and number, without rank and file. Events whose times are far from all others'
  /// (time_range.h) are left out. Ends the collection.
  Result<std::vector<TracedDevice>> finish();

  /// How many events were left out, after `finish`.
  std::size_t left_out() const { return left_out_; }

 private:
  using Key = std::uint64_t;  // of process and correlation
  struct Launch {
    Key key = 0;
    Nanoseconds at = 0;
    bool operator<(const Launch& other) const { return std::pair(key, at) < std::pair(other.key, other.at); }
  };
  struct Work {
    Key key = 0;
    Nanoseconds start = 0, end = 0, launched = 0;
    std::uint64_t name = 0;
    std::int64_t stream = 0;
    std::int32_t process = 0, device = 0;
    DeviceWorkKind kind = DeviceWorkKind::compute;
    bool has_launch = false;
    auto owner() const { return std::pair(process, device); }
  };
  struct ByKey : Work {
    bool operator<(const ByKey& other) const { return key < other.key; }
  };
  struct ByStart : Work {
    bool operator<(const ByStart& other) const {
      return std::tuple(owner(), start, end, launched) <
             std::tuple(other.owner(), other.start, other.end, other.launched);
    }
  };
  struct Host {
    std::int32_t process = 0;
    HostWork work = HostWork::data_loading;
    HostSpan span{};
    bool is_first = true;  // record of its event: what is left out counts once
    bool operator<(const Host& other) const {
      return std::tuple(process, span.start) < std::tuple(other.process, other.span.start);
    }
  };
  struct Mark {  // of a step
    std::int32_t process = 0;
    StepSource source = StepSource::none;
    HostSpan span{};
    bool is_first = true;  // record of its event
    bool operator<(const Mark& other) const { return span.start < other.span.start; }
  };
  struct Marks {  // of one kind of step in one process
    std::size_t count = 0;
    HostSpan first{}, last{};
  };
  class HostReader;

  static Key key_of(Origin origin);
  Result<void> join();
  Result<void> drop_lost_hosts();
  Result<void> read_marks();
  Result<TracedDevice> analyse(SpilledSort<ByStart>::Reader& works, std::optional<ByStart>& next);
  void count_steps(TracedDevice& device, const std::map<std::int64_t, RepeatedSteps>& streams) const;

  TraceOptions options_;
  SpilledSort<Launch> launches_;
  SpilledSort<ByKey> works_;
  SpilledSort<ByStart> timeline_;
  SpilledSort<Host> host_;
  SpilledSort<Mark> step_marks_;
  TraceTimes times_{};
  TimeRange range_{};  // of `times_`, once all are there
  std::size_t left_out_ = 0;
  std::map<std::pair<std::int32_t, StepSource>, Marks> marks_{};
  std::string optimizer_{};  // whose steps count
};

}  // namespace tutti
