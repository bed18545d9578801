#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "link/worker_handle.h"
#include "transcribe/model_context.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// A worker that has its model, and what the control side derived from both. Shared by all files of a run.
struct LoadedWorker {
  std::unique_ptr<WorkerHandle> engine;
  ModelContext model;
  std::string device_name{};
  std::string compute_type{};
  std::int32_t slots = 1;
  Seconds load{};
};

/// Chooses the device, starts its worker and waits until the model is loaded. `stop` ends the wait.
Result<std::shared_ptr<const LoadedWorker>> start_worker(const RunOptions& options, StopSignal& stop);

}  // namespace tutti
