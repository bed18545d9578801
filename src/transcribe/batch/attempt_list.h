#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "base/guarded.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/run_queue.h"

namespace tutti {

/// The attempts of a run, by the index that its stages know them by. References stay valid for as long as the list.
/// Thread-safe.
class AttemptList {
 public:
  /// The queue counts those in work.
  explicit AttemptList(RunQueue& queue) : queue_(queue) {}

  BatchAttempt& begin(Lease lease, const BatchJob& job, Seconds length);
  BatchAttempt& at(std::size_t index);
  /// The latest at a job; null: none.
  const BatchAttempt* latest_at(JobId job) const;
  /// The attempt is over; another one may be in work now. False: another thread has settled it, and decides what
  /// becomes of its job.
  bool settle(BatchAttempt& attempt);
  /// Those in work, in the order in which they began.
  std::vector<const BatchAttempt*> in_work() const;
  /// All are over: the run ends.
  void settle_all();

 private:
  struct State {
    std::deque<BatchAttempt> all{};
    std::map<std::size_t, std::size_t> in_work{};  // index by worker
  };

  RunQueue& queue_;
  Guarded<State> state_{};
};

}  // namespace tutti
