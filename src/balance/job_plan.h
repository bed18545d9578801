#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// A device as the plan sees it.
struct PlanDevice {
  double speed = 1;    ///< audio seconds per second, all pieces together
  double single = 1;   ///< audio seconds per second of one piece alone
  double fixed = 0;    ///< seconds each piece costs beside its audio
  double free_in = 0;  ///< seconds until what it has is done
};

/// Which job goes to which device so that the last one ends early.
struct JobPlan {
  std::vector<std::size_t> device_of;  ///< by job
  double end = 0;                      ///< seconds from now
};

/// Puts whole jobs on devices. `audio`: seconds each, longest first. Longest-first list scheduling, then moves and
/// swaps away from the device that ends last. Up to kExactJobs jobs an exact search follows that gives up after a fixed
/// number of steps and then keeps the best it has seen. Deterministic. devices: at least one.
JobPlan plan_jobs(std::span<const double> audio, std::span<const PlanDevice> devices);

inline constexpr std::size_t kExactJobs = 14;

/// No plan can end before: all work at all speeds together, and the longest job on the device that ends it first.
double plan_bound(std::span<const double> audio, std::span<const PlanDevice> devices);

}  // namespace tutti
