#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "device/machine_devices.h"

namespace tutti {

/// A device to plan for.
struct PlanTarget {
  std::string id{};               ///< as `tutti batch --devices` takes it
  std::string name{};             ///< for people
  std::optional<double> speed{};  ///< times real time; none: not known
  std::optional<Bytes> memory{};  ///< that a model may use: of a GPU all of it; none: no bound
  bool on_cpu = false;            ///< its memory is this machine's
};

/// The devices of a list as --devices takes it: auto (every visible GPU, else the CPU), cuda:N, GPU-uuid, cpu, cpu:N,
/// emulated:30x:12GB. Errors name the word.
Result<std::vector<PlanTarget>> plan_targets(std::string_view list, const MachineDevices& machine);

/// Those of --gpus 12GB:30x,8GB:12x: cuda:0, cuda:1, …
Result<std::vector<PlanTarget>> plan_figures(std::string_view list);

}  // namespace tutti
