#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "metrics/prometheus.h"

namespace tutti {

// What a run over many devices looks like at one moment: plain data, filled by the run's driver, shown by the live
// table and by `tutti top`. What is not known is absent, never 0.

struct DeviceStatus {
  std::string id;                 // as --devices names it: "cuda:0", "cpu:1", "emulated:0"
  std::string name{};             // "NVIDIA GeForce RTX 4070"
  std::string uuid{};             // "GPU-…"; empty where there is none
  std::string state = "healthy";  // as balance names it: starting, healthy, suspect, open, probing, warming, ...
  std::string reason{};           // why it is in that state, for people; empty where the state explains it all
  Seconds since{};                // how long it has been in that state
  std::size_t jobs = 0;
  std::optional<std::size_t> most_jobs{};     // the cap; none: memory alone limits
  std::size_t windows = 0;                    // in flight
  std::optional<std::size_t> most_windows{};  // that may be now, as worker, memory and health allow
  std::string memory_limit{};                 // why it is given fewer windows than its worker takes; empty: it is not
  std::optional<double> load{};               // 0..1 of the device's time, of all processes: what is decided by
  std::optional<double> own_load{};           // ours of it; with foreign_load it may be known where the whole is not
  std::optional<double> foreign_load{};
  std::optional<Bytes> own_memory{};
  std::optional<Bytes> foreign_memory{};
  std::optional<Bytes> total_memory{};
  std::optional<double> speed{};        // audio seconds per second, as measured now
  std::optional<double> usual_speed{};  // what it is expected to do; none: not measured
  std::optional<double> watts{};
  std::optional<double> celsius{};
  std::optional<Seconds> data_age{};   // age of the readings of load, memory, power and temperature
  std::optional<Seconds> silent{};     // of another machine's: since its runner's latest heartbeat
  Seconds audio_done{};                // transcribed here
  std::optional<double> busy_share{};  // 0..1 of the run so far
  std::optional<double> usd_hour{};    // price of an hour of it, as the run was given it
};

struct JobStatus {
  std::string id{};  // what cancelling takes
  std::string name;
  std::string device{};  // where it has windows; empty: it waits
  Seconds done{};
  std::optional<Seconds> length{};
  std::string client{};       // whose it is, as it was handed in; empty: not known. No status prints it
  std::string waiting_for{};  // "needs 5.1 GB; cuda:1 has 3.8 free"; empty while it runs
};

struct JobFailure {
  std::string name;
  std::string error;
  std::string device{};
  std::size_t attempts = 1;
};

struct FleetStatus {
  std::string run{};           // what people call it: the command's output folder, or its id
  std::string state_folder{};  // its store's folder
  Seconds elapsed{};
  std::size_t jobs = 0;  // jobs of all kinds together
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t cancelled = 0;
  std::size_t running = 0;               // something is being done for them now
  Seconds audio_done{};                  // by this run, of recordings in work what is done of them
  std::optional<Seconds> audio_total{};  // that it comes to; none: lengths are still being found out
  std::optional<Seconds> left{};         // expected time to the end
  std::optional<Seconds> left_error{};   // the end is between left - left_error and left + left_error
  std::string next_device{};             // that takes the next job; empty: none can
  std::string held_up{};                 // why nothing new is begun at all: what cannot be written; empty: it is
  std::optional<double> cost{};          // USD of all devices so far; none: one has no price
  std::string finding{};                 // what limits the run so far, a sentence; empty: not known
  std::vector<DeviceStatus> devices{};
  std::vector<JobStatus> in_work{};
  std::vector<JobFailure> failures{};  // the latest first

  std::size_t waiting() const { return jobs - done - failed - cancelled - running; }
};

/// How much a state wants the eye.
enum class Concern { none, notice, alarm };
/// By balance's names and telemetry's; an unknown one is a notice.
Concern concern_of(std::string_view state);

/// One line of JSON: numbers are numbers, units are in the names ("memory_own_bytes"), unknown values are left out, and
/// "version" counts changes that would break a reader. This is what goes over the control socket and what `tutti top
/// --json` prints.
std::string fleet_status_json(const FleetStatus& status);

/// Reads what fleet_status_json writes; unknown fields are skipped. Errors name the field.
Result<FleetStatus> read_fleet_status(std::string_view json);

/// Running batches for Prometheus, labelled by `run`: jobs by state, audio done, the share of each device's time that
/// it was busy, and tutti_run_limit_info, whose label `limit` names what limits the run, "waiting for input": without
/// its share, so that it stays one series while that changes. What is not known is left
/// out. Metrics of one name are side by side.
std::vector<MetricSnapshot> fleet_metrics(const std::vector<FleetStatus>& runs);

}  // namespace tutti
