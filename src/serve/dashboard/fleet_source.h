#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "jobs/job_admin.h"
#include "jobs/store.h"
#include "jobs/store_url.h"
#include "serve/jobs/job_service.h"
#include "serve/realtime/live_sessions.h"
#include "transcribe/service/speech_service.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// Whose devices and work the page shows, and what steers them. Calls may wait for another process, so they are none
/// for the network's thread. Thread-safe.
class FleetSource {
 public:
  virtual ~FleetSource() = default;
  /// None: nothing runs.
  virtual Result<std::optional<FleetStatus>> status() = 0;
  virtual Result<void> drain(const std::string& device) = 0;
  virtual Result<void> resume(const std::string& device) = 0;
  /// Cancels a request, or a job of the store. Fault::missing, here and below: it is not there, or in no state for
  /// that.
  virtual Result<void> cancel(const std::string& job) = 0;
  virtual Result<void> retry(JobId job) = 0;
  /// Sets the priority of a job that waits.
  virtual Result<void> set_priority(JobId job, int priority) = 0;
};

/// The service itself with its jobs and live streams, which outlive it.
std::unique_ptr<FleetSource> fleet_of(ServiceControl& service, JobService& jobs, LiveSessions& live);

/// The batch that runs on the store in `state`, whichever it is at a call: its control socket is found by its status.
/// `store` is that store, and outlives it.
std::unique_ptr<FleetSource> fleet_of_batches(std::filesystem::path state, JobAdmin& store);

/// The machines that share the store on a server, at `url`. Their devices are steered on these machines.
std::unique_ptr<FleetSource> fleet_of_server(StoreUrl url, JobStore& store);

}  // namespace tutti
