#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "jobs/job.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_spaces.h"
#include "transcribe/batch/work_order.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// Which job of a batch is next, and whether one may begin now: pausing, disk space, memory, the limit on jobs at
/// once. Counts what there is to do and what has ended, and reports to the pool what idle devices wait for.
/// Thread-safe; one thread calls `wait`.
class RunQueue {
 public:
  /// What the thread that claims jobs does next; neither: no job is claimed any more.
  struct NextStep {
    std::optional<JobId> job{};  // claim this one
    bool publish_kept = false;   // results that are kept may find space by now
  };

  /// `began`: this run, by the store's clock.
  RunQueue(const BatchOptions& options, StoreTime began, BatchState& state, DevicePool& pool);

  // --- what there is to do
  /// This many jobs of the run are still to be added; until they are, they are counted all the same.
  void expect(std::size_t jobs);
  /// Adds jobs of this run. None is claimed before all of these are there, so that the first is the one whose turn it
  /// is.
  void add(std::span<const RequestedJob> jobs);
  void all_added();
  /// What was added since the last call.
  BatchWork take_new_work();
  PoolJob pool_job(JobId id, const BatchEntry& entry) const;

  // --- whether one may begin
  /// No job is claimed any more.
  void stop_taking();
  /// No job is claimed until `resume`; once nothing is in work either, it is as after `stop_taking`.
  void pause();
  /// False: it is too late, no other job is going to be claimed.
  bool resume();
  /// No job is claimed beside what is in work, as long as that holds.
  void hold_back(bool hold);
  /// A user is prompted about a failure; no recording begins meanwhile.
  void set_awaiting_answer(bool awaiting);
  /// The wait for a disk has begun or ended.
  void space_changed();
  bool is_over() const;

  // --- one after the other
  NextStep wait();
  /// The job has ended, and is counted as that.
  void end(JobId id, std::size_t BatchCounts::*how);
  /// The job is to be claimed again, not before `wait` has passed.
  void again(JobId id, Seconds wait);

 private:
  using Lock = BatchState::Lock;

  void add(const Lock& held, const RequestedJob& requested);
  bool may_take(const Lock& held) const;
  void report_hold(const Lock& held);
  void stop_pool_when_all_ended();

  const BatchOptions& options_;
  const StoreTime began_;
  BatchState& state_;
  DevicePool& pool_;
  // under the state's lock
  WorkOrder order_;
  BatchWork work_{};     // not taken yet
  bool over_ = false;    // no job is claimed any more
  bool paused_ = false;  // … until the run is resumed
  bool held_back_ = false;
  bool awaiting_answer_ = false;
  std::optional<Idle> reported_hold_{};  // to the pool
};

}  // namespace tutti
