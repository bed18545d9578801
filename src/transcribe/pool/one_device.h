#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// A pool of one device that has its model, and what the control side derived from both. Shared by all files of a run.
struct LoadedDevice {
  std::unique_ptr<DevicePool> pool;
  ModelContext model;
  std::string device_name{};
  std::string compute_type{};
  std::int32_t slots = 1;
  Seconds load{};
};

/// The pool of a run on the one device that it names: nothing is left to choose, and a command's user waits. So a
/// worker that is lost is followed at once, one canary window decides about it, and a few that come to nothing end it.
PoolPlan plan_of_one(PooledDevice device);

/// Chooses the device, starts its worker and waits until the model is loaded. `stop` ends the wait.
Result<std::shared_ptr<const LoadedDevice>> load_device(const TranscribeOptions& options, StopSignal& stop);

}  // namespace tutti
