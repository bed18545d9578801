#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/device_health.h"
#include "balance/types.h"
#include "base/error.h"
#include "base/units.h"
#include "link/window_engine.h"
#include "link/worker_handle.h"
#include "transcribe/pool/pool_job.h"
#include "transcribe/pool/pool_view.h"
#include "transcribe/pool/restart_policy.h"

namespace tutti {

/// A line of the log begins with it once a GPU has passed its test: field note 001 looks for it.
inline constexpr const char* kGpuTestPassed = "GPU test PASSED";

/// A device of the pool and how its worker is started.
struct PooledDevice {
  std::string id;  // as in reports; unique
  WorkerOptions worker{};
  bool is_gpu = false;           // also one that is only played
  double speed = 1;              // audio seconds a second, as believed beforehand
  bool speed_known = false;      // as earlier runs have measured it, or as rated; else it is only a guess
  std::int32_t enough = 1;       // windows in flight at which it is as fast as it gets; 0: as many as it steps together
  Seconds load_time{};           // from the start of its worker until it is ready, as it took last time; 0: not known
  std::optional<int> job_cap{};  // jobs with a window in flight here at most
  bool tested = false;           // its first worker computes a window before it gets work
  std::optional<Bytes> memory{};  // memory of the device, in all; none: not known, and no bound
  Bytes model_memory{};           // part of `memory` for the model and what it computes in
  Bytes window_memory{};          // part of `memory` for every window in flight
};

struct PoolPlan {
  std::vector<PooledDevice> devices{};
  std::string policy = "tutti";  // tutti, note, fifo, round_robin
  int jobs_at_once = 0;          // jobs with a window in flight at most; 0: no bound
  /// Real seconds per second of the pool's clock. 1 but for emulated GPUs that all run at another rate: then every
  /// time in here, speeds and reports included, is theirs.
  double time = 1;
  Seconds patience{600};  // how long no device may be in service before the run ends, by the pool's clock
  RestartLimits restarts{};
  BreakerOptions breaker{};
  bool detects_stalls = true;         // a worker that answers pings and no window for too long counts as lost
  bool fresh_worker_decides = false;  // DispatcherOptions has it
};

/// A driver's report that keeps a GPU from work until it is over.
struct DeviceFault {
  bool lost = false;   // the GPU is not reachable: off the bus, or its driver hangs; else it needs a repair
  std::string what{};  // in words
};

/// One file's windows on whatever devices its pool grants them. A window's call waits until a device is granted. A
/// window on a device that fails is opened and submitted again on another, without the caller noticing. Errors: a
/// worker's error about the window; Fault::device with the evidence when the job is blamed for workers' deaths, or no
/// device is left; Fault::cancelled after DevicePool::stop. Thread-safe. None of its calls may be waiting when it goes.
class JobEngine : public WindowEngine {
 public:
  /// Where most of its audio was done, and the device time that took.
  struct Use {
    std::string device{};
    Seconds audio{};
    Seconds busy{};
    std::map<std::string, Seconds> busy_on{};  // of `busy`, by device
    int devices_failed = 0;                    // times it had to move
  };
  virtual Use use() const = 0;
  /// Devices with a window of it in flight, separated by commas.
  virtual std::string where() const = 0;
  /// Called once, when the job gets its first device, by the thread that waits for it; then DevicePool::first_grants
  /// has it. To be set before the first window.
  virtual void when_granted(std::function<void()> fn) = 0;
  /// Another process holds its job by now, or its caller has left: every waiting and every later call gets
  /// Fault::cancelled, also one that a worker has in work. Its windows are free once the caller has released them.
  virtual void cancel() = 0;
};

/// Many workers as one engine. Starts them side by side, hands windows out as the balance module decides, and restarts
/// those that die, hang or talk nonsense. Leaves out those that stay bad and admits them again when a canary window
/// succeeds. Thread-safe. Owns a thread per device (and through WorkerHandle one more and a process) and one that keeps
/// the time.
class DevicePool {
 public:
  /// Returns without waiting for any worker.
  static std::unique_ptr<DevicePool> start(PoolPlan options);
  /// All jobs are gone.
  virtual ~DevicePool() = default;

  /// Waits for the first worker with a loaded model. An error: every device has failed for good, and why.
  virtual Result<Ready> ready() = 0;
  /// A job that is to come: what the devices expect, and why they are idle, counts on it.
  virtual void add_job(const PoolJob& job) = 0;
  /// It will not come (again).
  virtual void end_job(std::uint64_t job) = 0;
  /// The windows of a job that was added. One engine at a time for each.
  virtual std::unique_ptr<JobEngine> engine(const PoolJob& job) = 0;
  virtual PoolView view() = 0;
  /// "GPU 0: 3/5 jobs, 45% util | GPU 1: …" is made of the view; these steer. False: there is no such device.
  virtual bool drain(const std::string& device) = 0;
  virtual bool resume(const std::string& device) = 0;
  /// What the driver reports of a device. While faulted it gets no work and its worker is not started. That lasts until
  /// the fault is over (nothing), or a user resumes a GPU in need of repair, and a canary window has succeeded.
  virtual void report_driver_state(const std::string& device, const std::optional<DeviceFault>& fault) = 0;
  /// What others use of a device's memory now: fewer windows fit, or more again.
  virtual void others_use(const std::string& device, Bytes memory) = 0;
  /// How busy the driver reports a device to be.
  virtual void report_load(const std::string& device, const DeviceLoad& load) = 0;
  /// This machine is short of memory, and how: nothing is begun beside what is in work until that is over (nothing).
  virtual void host_short(const std::optional<std::string>& why) = 0;
  /// Jobs that were added wait for this reason and no other; nothing: none wait for it.
  virtual void held_back(std::optional<Idle> why) = 0;
  /// The device events since the last call, in order. A worker that got ready as expected is no news.
  virtual std::vector<PoolEvent> news() = 0;
  /// Jobs that have got their first device since the last call, in the order of the decisions.
  virtual std::vector<FirstGrant> first_grants() = 0;

  /// Why nothing is granted any more: stopped, every device failed for good, or none was in service for too long.
  virtual std::optional<Error> over() = 0;
  /// Stops the pool: what is in flight, and workers that end by themselves, have `grace` (real time), then every
  /// waiting call gets Fault::cancelled. Returns at once. A shorter grace replaces a longer one.
  virtual void stop(Seconds grace) = 0;
};

}  // namespace tutti
