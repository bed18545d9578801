#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balance/dispatcher.h"
#include "base/units.h"

namespace tutti {

/// A recording in a simulation: its length, and the length that the dispatcher gets.
struct SimJob {
  Seconds audio{};
  Seconds believed{};
};

/// Recordings of these lengths, each believed to be off by up to ± `error` (0.3: between 0.7 and 1.3 times), evenly.
std::vector<SimJob> with_error(std::span<const double> seconds, double error, std::uint64_t seed);

/// What happens to a simulated device.
struct SimFault {
  enum class Kind {
    worker_dies,  ///< everything in flight fails; a new worker starts at once
    lost,         ///< as worker_dies, and the GPU is gone from the bus
    returned,     ///< it is back
  };
  Seconds at{};
  Kind kind{};
  /// How a batch would classify it; none: by the driver's report for a lost GPU, as a crash of the worker for others.
  std::optional<Blame> why{};
};

/// A device of a simulation: pieces in flight share its speed evenly.
struct SimDevice {
  DeviceFacts facts{};             ///< as passed to the dispatcher
  double speed = 1;                ///< what is true, with `enough` pieces in flight
  Seconds fixed{};                 ///< likewise: device time of every window beside what its audio takes
  double jitter = 0;               ///< standard deviation of a piece's cost, relative
  Seconds warm_up{};               ///< until a worker is ready
  std::vector<SimFault> faults{};  ///< in order of time
};

enum class SimUnit { file, window };

struct SimOptions {
  SimUnit unit = SimUnit::window;
  Seconds window{30};
  DispatcherOptions dispatcher{};
  std::uint64_t seed = 0;  ///< seed of the jitter
};

struct SimResult {
  Seconds makespan{};
  std::vector<DeviceView> devices{};  ///< at the end
  std::vector<Seconds> done_at{};     ///< by job; negative: it failed
  std::size_t grants = 0;
  std::size_t failures = 0;  ///< failures of pieces
};

/// Runs all jobs, added at 0, to their end. Ends early when nothing can ever happen again; what is not done then has a
/// negative done_at. Deterministic.
SimResult simulate(std::span<const SimJob> jobs, std::span<const SimDevice> devices, const SimOptions& options);

/// No policy can be faster: file: max(Σd/Σs, longest d / fastest s); window: Σd/Σs; with what windows cost beside it.
Seconds lower_bound(std::span<const SimJob> jobs, std::span<const SimDevice> devices, SimUnit unit);

/// A device as `tutti plan` and tests make them: so many times real time. `slots`: pieces in flight.
SimDevice plain_device(std::string id, double speed, int slots);

/// The devices as a policy uses them. The note runs five files at a time on each GPU, whatever the GPU is, and as many
/// threads as that takes; the others one file, or as many windows as the devices have slots.
void set_policy(Policy policy, std::vector<SimDevice>& devices, SimOptions& options);

}  // namespace tutti
