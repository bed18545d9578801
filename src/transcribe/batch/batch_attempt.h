#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded.h"
#include "base/units.h"
#include "jobs/lease.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/file_transcription.h"
#include "transcribe/pool/device_pool.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The error for a caller whose attempt is over.
inline tl::unexpected<Error> not_wanted() {
  return fail(Fault::cancelled, "not to be worked on any more");
}

/// What its log lines are under, as threads are in the field note's program.
inline std::string worker_name(std::size_t worker) {
  return "Worker-" + std::to_string(worker);
}

/// One claim of a job, from the store's lease to its end: how far it is, and what serves it. Thread-safe.
class BatchAttempt {
 public:
  /// `worker`: the least number that no other attempt in work has.
  BatchAttempt(std::size_t its_index, std::size_t its_worker, Lease its_lease, const BatchJob& its_job, Seconds length);

  JobId id() const { return lease.key.job; }
  Seconds length() const;
  /// Its audio is there, and so long.
  void set_decoded(Seconds length);
  /// So far into the recording its transcript reaches.
  void reached(Seconds position) { position_ = position.count(); }
  /// Of the recording, 0..1.
  double share() const;
  /// Its decoded audio finds no space.
  void set_no_space(bool none) { no_space_ = none; }
  void set_publishing();
  /// For people; with the ids of the devices that it has windows on, and what it waits for but capacity on a device.
  JobStatus status() const;
  /// Something is being done for it now; else it waits for a device or for disk space.
  bool is_running() const;

  /// It is over: the first caller decides what becomes of its job; false for all others.
  bool settle() { return !settled_.exchange(true); }
  bool has_settled() const { return settled_; }

  /// How its windows are served; made at the first call. Null: it has settled.
  using MakeContext = std::function<TranscriptionContext(JobEngine& engine)>;
  const TranscriptionContext* context(const std::function<std::unique_ptr<JobEngine>()>& engine,
                                      const MakeContext& make);
  JobEngine::Use use() const;
  /// Every call for its windows that waits ends.
  void cancel();
  /// Its capacity on a device is free.
  void release_engine();

  const std::size_t index;
  const std::size_t worker;
  const Lease lease;  // its `job.spec` is empty: `job` has it
  const BatchJob& job;

 private:
  struct State {
    Seconds length{};
    bool decoded = false;
    bool publishing = false;  // its transcript is there
    std::unique_ptr<JobEngine> engine{};
    std::optional<TranscriptionContext> context{};
  };

  std::atomic<double> position_{0};  // seconds of the recording
  std::atomic<bool> no_space_{false};
  std::atomic<bool> settled_{false};
  Guarded<State> state_{};
};

}  // namespace tutti
