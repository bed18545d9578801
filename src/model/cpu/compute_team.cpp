#include "model/cpu/compute_team.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/thread_choice.h"

namespace tutti {
namespace {

thread_local std::optional<ThreadChoice> choice;  // threads for the steps that this thread computes
thread_local int step_threads = 0;                // 0: no step is going on

}  // namespace

/// At a thread's first call torch sets the number that is set for all, so that call comes first.
void use_one_torch_thread() {
  at::internal::lazy_init_num_threads();
  std::ignore = at::get_num_threads();
  omp_set_num_threads(1);
}

WorkerTeam& compute_team() {
  static WorkerTeam team({.on_helper_start = use_one_torch_thread});
  return team;
}

void set_compute_threads(int requested, int cores) {
  const int usual = at::get_num_threads();
  const int threads = requested > 0 ? requested : std::clamp(cores, 1, usual);
  if (threads != usual) at::set_num_threads(threads);
}

std::int64_t loop_threads() {
  if (at::in_parallel_region()) return 1;
  return step_threads > 0 ? step_threads : at::get_num_threads();
}

StepThreads::StepThreads(std::int64_t rows) : rows_(rows) {
  const int most = at::get_num_threads();
  if (!choice || choice->most() != most) choice.emplace(most);
  step_threads = choice->threads();
  begun_ = std::chrono::steady_clock::now();
}

StepThreads::~StepThreads() {
  step_threads = 0;
  choice->record(rows_, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count());
}

}  // namespace tutti
