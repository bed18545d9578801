#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "metrics/idle.h"

namespace tutti {

/// How a device spent the time of a run; busy and idle add up to its length.
struct DeviceTime {
  std::string id;
  Seconds busy{};
  IdleTime idle{};
  Seconds audio{};                // done here
  double windows = 0;             // in it
  std::optional<double> rated{};  // audio seconds per second that it is known to do; none: audio / busy
};

/// The numbers of a finished run.
struct RunNumbers {
  Seconds elapsed{};
  std::size_t done = 0;
  std::size_t copied = 0;  // jobs of `done` that were copied from recordings with the same content
  std::size_t failed = 0;
  bool has_retried = false;  // an attempt of this run failed, and the job was to be tried again
  std::size_t cancelled = 0;
  Seconds audio{};
  Seconds longest{};         // the longest recording
  bool shared_files = true;  // windows of one file may run on several devices
  std::string policy{};      // that placed the work, as --policy names it; empty or tutti: the usual one
  bool stopped = false;      // what was in work then has taken time, and is no audio done
  std::vector<DeviceTime> devices{};
  std::optional<double> energy_joules{};
  std::optional<double> cost{};       // USD of all devices
  std::optional<double> idle_cost{};  // of it, while they were idle
};

// All functions are pure.

/// Audio seconds per second that the device did while it was busy; none where it did nothing.
std::optional<double> measured_speed(const DeviceTime& device);

/// What the device can do: as rated, else as measured; none where it never worked and is not rated.
std::optional<double> speed_of(const DeviceTime& device);

/// Time in which a busy device would have done what it fell short of its rating; 0 without one.
Seconds shortfall(const DeviceTime& device);

/// The device with the highest speed. `run` has a device.
const DeviceTime& fastest_device(const RunNumbers& run);

/// What kept a run from its bound.
struct RunLoss {
  std::optional<Idle> idle{};  // what devices waited for; none: they were slower than rated
  double share = 0;            // of what the devices can do
};

/// All that kept a run from its bound, the largest first. With work_bound over the run's length the shares add up to 1.
std::vector<RunLoss> losses_of(const RunNumbers& run);

/// Work over the devices' speeds, Σd/Σs; 0 where no speed is known.
Seconds work_bound(const RunNumbers& run);

/// The least time the run could have taken on its devices, from their speeds: Σd/Σs, and for whole files at least
/// longest/fastest (Graham's bound for uniform machines). None where no device's speed is known.
std::optional<Seconds> lower_bound(const RunNumbers& run);

/// Something without which a run would have been shorter.
struct Remedy {
  enum class Against {
    idleness,             ///< devices waited
    slow_tail,            ///< likewise, because the policy left the end of the work to slower ones
    one_long_recording,   ///< likewise, because the longest recording kept one of them busy to the end
    slower_than_rated,    ///< busy devices did less than they are rated for
    too_little_hardware,  ///< the devices were at work nearly all the time
  };
  Against against = Against::idleness;
  Idle idle = Idle::no_job;  ///< what the devices waited for
  double share = 0;          ///< of all devices' time; too little hardware has none
  Seconds gain{};            ///< less time for the whole run
};

/// A loss of less of the run's length is not worth a line.
inline constexpr double kLeastLoss = 0.02;

/// What would have made the run faster, the largest gain first. Where the devices did nothing, only their faults.
std::vector<Remedy> remedies(const RunNumbers& run);

/// The one of them that gains most. None where the run is too short to say so, or where nothing would gain kLeastLoss
/// of it.
std::optional<Remedy> first_remedy(const RunNumbers& run);

}  // namespace tutti
