#pragma once

#include <chrono>
#include <cstdint>

#include "base/worker_team.h"

namespace tutti {

/// The team that loops of this process's kernels share. Torch's own operators have threads of their own (libgomp's).
WorkerTeam& compute_team();

/// How many threads this process computes with, torch's and the compute team's: `requested`, or, where that is 0,
/// torch's own choice (OMP_NUM_THREADS, else one per core), but no more than `cores`, which a control group's quota may
/// have cut.
void set_compute_threads(int requested, int cores);

/// Torch's operators that the calling thread calls from now on run on it alone. For threads beside the one that
/// computes: each would start a team of libgomp's of its own, and with more threads in teams than there are cores
/// libgomp's threads sleep at the end of every operator (gomp_throttled_spin_count_var), also those of the thread that
/// computes.
void use_one_torch_thread();

/// Most threads of a loop that this thread begins now: torch's number (at::set_num_threads), or the fewer that the
/// decoder step around it runs with; one inside a loop of torch's.
std::int64_t loop_threads();

/// A decoder step of this thread. While the object exists, its loops take as many threads as have proved to be worth it
/// (base/thread_choice.h), and at its end it reports what the step took.
class StepThreads {
 public:
  /// rows: of the step; steps of as many rows take about the same time.
  explicit StepThreads(std::int64_t rows);
  StepThreads(const StepThreads&) = delete;
  StepThreads& operator=(const StepThreads&) = delete;
  ~StepThreads();

 private:
  std::int64_t rows_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace tutti
