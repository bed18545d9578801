#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "jobs/job.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/batch/work_order.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// Why no job may begin beside those in work, or none at all.
enum class RunHold {
  paused,          // none is claimed until that is over; once nothing is in work either, the run is over
  memory,          // none beside what is in work: the machine is short of it
  awaiting_answer  // a user is prompted about a failure
};

/// A job as the pool knows it. `began`: the run, by the store's clock.
PoolJob pool_job(const BatchEntry& entry, const BatchOptions& options, StoreTime began);

/// Which job of a batch is next, and whether one may begin now: pausing, disk space, memory, the limit on jobs at
/// once. Reports to the pool what idle devices wait for. Thread-safe; one thread calls `wait`.
class RunQueue {
 public:
  /// What the thread that claims jobs does next; neither: no job is claimed any more.
  struct NextStep {
    std::optional<JobId> job{};  // begin this one
    std::vector<JobId> ahead{};  // the first of those that follow: they may be claimed with it
    std::size_t ready = 0;       // how many follow
    bool publish_kept = false;   // results that are kept may find space by now
  };

  RunQueue(const BatchOptions& options, StoreTime began, RunJobs& jobs, const RunSpaces& spaces, DevicePool& pool);

  /// Adds jobs of this run. None is claimed before all of these are there, so that the first is the one whose turn it
  /// is.
  void add(std::span<const BatchEntry> jobs);
  void all_added();

  /// No job is claimed any more.
  void stop_taking();
  bool is_over() const;
  /// False: it is too late, no other job is going to be claimed.
  bool set_hold(RunHold hold, bool holds);
  /// The wait for a disk has begun or ended.
  void space_changed();
  /// So many attempts more are in work.
  void count_in_work(int more);
  /// The next step at that time, once.
  void publish_kept_at(Clock::Instant when);

  NextStep wait();
  /// The job has ended, and is counted as that.
  void end(JobId id, std::size_t BatchCounts::*how, std::optional<JobFailure> failure = {});
  /// The job is to be claimed again, not before `wait` has passed.
  void again(JobId id, Seconds wait);

 private:
  struct State {
    WorkOrder order;
    std::size_t open = 0;  // jobs that have not ended
    int in_work = 0;
    bool all_added = false;
    bool over = false;  // no job is claimed any more
    bool paused = false, short_of_memory = false, awaiting_answer = false;
    std::optional<Clock::Instant> publish_kept_at{};
    std::optional<Idle> reported_hold{};  // to the pool
    std::uint64_t changes = 0;

    bool may_take(const RunSpaces& spaces, int most) const;
    std::optional<Idle> hold(const RunSpaces& spaces, int most, Clock::Instant now) const;
  };

  template <class Fn>
  void change(Fn fn);
  void report_hold(State& state) const;

  const BatchOptions& options_;
  const StoreTime began_;
  RunJobs& jobs_;
  const RunSpaces& spaces_;
  DevicePool& pool_;
  Guarded<State> state_;
};

}  // namespace tutti
