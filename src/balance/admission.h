#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balance/device_record.h"
#include "balance/work_queue.h"

namespace tutti {

/// The state that everything is decided over: the devices, the jobs, the limits. Read only.
struct Scene {
  const std::vector<DeviceRecord>& devices;
  const WorkQueue& queue;
  const DispatcherOptions& options;
  const std::optional<std::string>& host_short;  // why this machine begins nothing more beside what is in work
  std::optional<Idle> held_back{};               // why the owner of waiting jobs does not begin them
  bool little_left = false;                      // so that who takes what at the end is decided together
  std::optional<DeviceIndex> clearing{};         // gets nothing new, because a risky piece needs it for itself
};

/// A limit that keeps a piece from a device.
enum class Limit {
  not_in_service,
  slots,         ///< as many pieces in flight as its worker takes, or as are known to fit
  job_cap,       ///< --max-per-gpu
  jobs_at_once,  ///< --threads
  host_memory,   ///< memory of this machine
  device_memory,
  failed_there,     ///< its worker was lost with this job, and others are left to try
  kept_for_another  ///< a piece that took down a worker runs there alone, or will
};

/// The first limit that keeps a piece of `job` from `device`; none: it may run there. Limits of the job come before
/// slots, so that "slots" means: as soon as something there is done.
std::optional<Limit> refused(const Scene& scene, DeviceIndex device, const QueuedJob& job);

/// Pieces that may be in flight there now: as many as are of use, and once little is left as many as it holds.
int capacity_of(const Scene& scene, const DeviceRecord& record);

/// As reports count it.
Idle idle_of(Limit limit, const DeviceRecord& device);

/// In words, with the numbers: "needs 5.1 GB of memory; 3.8 GB are free".
std::string words(Limit limit, const Scene& scene, DeviceIndex device);

}  // namespace tutti
