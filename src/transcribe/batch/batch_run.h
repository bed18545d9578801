#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/error.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/batch/store_follower.h"
#include "transcribe/stop_signal.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// Controls a running batch, from any thread, until run_batch returns.
class BatchControl {
 public:
  virtual ~BatchControl() = default;
  /// Now; or with the devices as they were in that view of a moment ago.
  virtual FleetStatus status(const PoolView* at = nullptr) = 0;
  /// With a device: false when there is none of that name. Without one: the whole batch begins nothing new and ends
  /// when what is in work has ended, or continues again; false when it is ending already.
  virtual bool drain(const std::string& device) = 0;
  virtual bool resume(const std::string& device) = 0;
  /// Fault::missing when no such job waits or is in work.
  virtual Result<void> cancel(std::int64_t job) = 0;
};

/// Transcribes every job that is not done, on all devices, publishing each result exactly once. The store in
/// options.state remembers all of it, so that the same call after any end goes on where it was. `with_control` is
/// called once the devices are starting, and again with null before the control goes. Fails only when nothing could run
/// (no store, no model, every device failed for good before anything was done). Blocks until all is done, every device
/// is lost for too long, or `stop` is raised.
Result<BatchReport> run_batch(std::span<const BatchJob> jobs, const BatchOptions& options, BatchObserver& observer,
                              StopSignal& stop, const std::function<void(BatchControl*)>& with_control);

/// The same for jobs that other processes submit to the store of `options`, on this machine or another one, until there
/// have been none for the idle time.
Result<BatchReport> follow_store(const FollowOptions& follow, const BatchOptions& options, BatchObserver& observer,
                                 StopSignal& stop, const std::function<void(BatchControl*)>& with_control);

}  // namespace tutti
