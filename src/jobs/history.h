#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/job.h"

namespace tutti {

/// One run of a command over the store.
struct RunStart {
  std::string command{};  // "tutti batch talks --output-dir out"
  std::string batch{};
  std::string model{};
  std::string compute_type{};
  std::string runner{};  // the machine and the process, "HOST.PID"
};

/// What a device did in a run. Absent is absent, never 0.
struct DeviceUse {
  std::string device{};  // GPU UUID, cpu:N, emulated:...
  std::string name{};    // for people
  Seconds audio{};       // done there
  Seconds busy{};
  std::map<std::string, Seconds> idle{};  // by reason
  std::optional<double> energy_joules{};
  std::optional<double> cost{};  // in the currency of --price
  // These show what its windows cost there; none: this run does not show it, or an earlier version wrote it.
  std::optional<std::int64_t> windows{};  // done there
  std::optional<int> window_capacity{};   // for windows in flight
};

struct RunEnd {
  std::int64_t total = 0, successful = 0, failed = 0, cancelled = 0;
  Seconds elapsed{};
  Seconds audio{};
  std::vector<DeviceUse> devices{};  // those with one id are summed up
};

struct RunRecord {
  RunId id = 0;
  RunStart start{};
  StoreTime started{};
  std::optional<StoreTime> ended{};  // none: in work, or killed
  RunEnd end{};
  std::optional<Seconds> silent{};  // since its latest heartbeat; none: it had none
  std::string status{};             // with that: what it was doing, as RunHistory::report_run was given it
};

/// Heartbeats come every few seconds: a run without one for so long was killed, or its machine is cut off.
inline constexpr Seconds kLostAfter{60};

/// What became of a run. Unknown: it has not ended, and had no heartbeat, as those of earlier versions.
enum class RunState { ended, at_work, lost, unknown };
std::string_view name_of(RunState state);
inline RunState state_of(const RunRecord& run) {
  if (run.ended) return RunState::ended;
  if (!run.silent) return RunState::unknown;
  return *run.silent < kLostAfter ? RunState::at_work : RunState::lost;
}

/// What a device's speed depends on.
struct SpeedKey {
  std::string device{};
  std::string model{};
  std::string compute_type{};
  int concurrency = 1;
  auto operator<=>(const SpeedKey&) const = default;
};

/// The speed model at some moment: a job of d audio seconds takes overhead + d / speed.
struct SpeedRecord {
  SpeedKey key{};
  double speed = 0;                      // audio seconds per second
  Seconds overhead{};                    // per job
  std::int64_t samples = 0;              // measurements behind it
  std::optional<double> median_error{};  // median error of its predictions, relative
  StoreTime at{};                        // set by the store
};

/// Something that happened to a device: a breaker that opened, a lost GPU, a drain.
struct DeviceEvent {
  std::string device{};
  RunId run = 0;
  std::string kind{};  // "quarantined", "lost", "returned", ...
  std::string text{};  // reason and evidence, for people
  StoreTime at{};      // set by the store
};

/// The part of a store (jobs/store.h) that remembers runs, speeds of devices, and what happened to them.
class RunHistory {
 public:
  virtual ~RunHistory() = default;

  virtual Result<RunId> begin_run(const RunStart& start) = 0;
  virtual Result<void> end_run(RunId run, const RunEnd& end) = 0;
  /// A heartbeat of a run that has not ended; `status` is for those who look at all of them, whatever its form.
  virtual Result<void> report_run(RunId run, const std::string& status) = 0;
  /// Those with a heartbeat since then, the earliest first, without their devices.
  virtual Result<std::vector<RunRecord>> runs_seen(StoreTime since) = 0;
  /// Latest first.
  virtual Result<std::vector<RunRecord>> runs(std::size_t limit) = 0;

  /// Replaces the current speed and keeps the old one as history.
  virtual Result<void> record_speed(const SpeedRecord& speed) = 0;
  /// The current speed of every key, those recorded last behind the others; with `all`, every record there is.
  virtual Result<std::vector<SpeedRecord>> speeds(bool all) = 0;
  virtual Result<void> record_event(const DeviceEvent& event) = 0;
  virtual Result<std::vector<DeviceEvent>> events(StoreTime since) = 0;
};

}  // namespace tutti
