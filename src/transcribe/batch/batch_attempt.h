#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "base/units.h"
#include "jobs/lease.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/recording_attempt.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What its log lines are under, as threads are in the field note's program.
inline std::string worker_name(std::size_t worker) {
  return "Worker-" + std::to_string(worker);
}

/// One claim of a job, from the store's lease to its end. Thread-safe.
class BatchAttempt : public RecordingAttempt {
 public:
  /// `worker`: the least number that no other attempt in work has.
  BatchAttempt(std::size_t its_index, std::size_t its_worker, Lease its_lease, const BatchJob& its_job, Seconds length);

  JobId id() const { return lease.key.job; }
  /// Its decoded audio finds no space.
  void set_no_space(bool none) { no_space_ = none; }
  /// Its transcript is there.
  void set_publishing() { publishing_ = true; }
  /// For people; with the ids of the devices that it has windows on, and what it waits for but capacity on a device.
  JobStatus status() const;
  /// Something is being done for it now; else it waits for a device or for disk space.
  bool is_running() const;

  const std::size_t index;
  const std::size_t worker;
  const Lease lease;  // its `job.spec` is empty: `job` has it
  const BatchJob& job;

 private:
  std::atomic<bool> no_space_{false}, publishing_{false};
};

}  // namespace tutti
