#pragma once

#include <string>
#include <vector>

#include "balance/sim/simulator.h"
#include "cli/plan/plan_devices.h"

namespace tutti {

/// What `tutti plan --simulate` compares: every policy on the same recordings and devices.
struct PolicyTable {
  struct Row {
    std::string name{};
    Seconds makespan{};
    double ratio = 0;  ///< makespan / lower_bound
    std::vector<DeviceView> devices{};
  };
  Seconds lower_bound{};
  std::vector<Row> rows{};

  std::string json() const;
  std::string text(std::size_t recordings, Seconds audio) const;
};

/// Devices as the simulator takes them; all have a speed. `windows`: in flight on each.
std::vector<SimDevice> sim_devices(const std::vector<PlanTarget>& targets, int windows);

/// Runs all policies. Deterministic.
PolicyTable compare_policies(const std::vector<SimTask>& tasks, const std::vector<SimDevice>& devices, SimUnit unit,
                             std::uint64_t seed);

}  // namespace tutti
