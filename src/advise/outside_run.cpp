#include "advise/outside_run.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kMost = 0.85;      // share of the time, or of the cores, that is as good as all of it
constexpr double kMuch = 0.2;       // share of the time that is worth a finding before others
constexpr double kSomeCores = 0.2;  // cores of other programs that disturb
constexpr double kSwaps = 100;      // pages a second

/// The most that a run gains without a share of its time.
double gain_without(double share) {
  return share < 1 ? 1 / (1 - share) - 1 : 0;
}

/// Threads that were on a processor for a twentieth of the time or more.
int computing_threads(const OutsideRun& run) {
  int threads = 0;
  for (const ThreadGroup& group : run.groups)
    if (group.threads > 0 && group.times.running / group.threads > run.elapsed / 20) threads += group.threads;
  return threads;
}

/// Why threads that could have run had no core.
OutsideLimit why_no_core(const OutsideRun& run) {
  if (run.machine.throttled_cores >= kSomeCores) return OutsideLimit::cpu_quota;
  if (run.most_runnable > run.cores) return OutsideLimit::too_many_threads;
  return OutsideLimit::other_processes;
}

}  // namespace

ThreadTimes& ThreadTimes::operator+=(const ThreadTimes& other) {
  running += other.running;
  core_wait += other.core_wait;
  disk += other.disk;
  blocked += other.blocked;
  return *this;
}

std::string_view name_of(OutsideLimit limit) {
  switch (limit) {
    case OutsideLimit::all_cores: return "all cores";
    case OutsideLimit::one_thread: return "one thread";
    case OutsideLimit::one_at_a_time: return "one thread at a time";
    case OutsideLimit::too_many_threads: return "too many threads";
    case OutsideLimit::other_processes: return "other processes";
    case OutsideLimit::cpu_quota: return "CPU quota";
    case OutsideLimit::disk: return "disk";
    case OutsideLimit::memory: return "memory";
    case OutsideLimit::waiting: return "waiting";
    case OutsideLimit::unknown: break;
  }
  return "unknown";
}

OutsideFinding finding_of(const OutsideRun& run) {
  const Seconds lived = run.busiest.all();
  if (lived.count() <= 0 || run.elapsed.count() <= 0) return {};
  ThreadTimes all{};
  for (const ThreadGroup& group : run.groups) all += group.times;
  const double used = all.running / run.elapsed;             // cores
  const double wanted = used + all.core_wait / run.elapsed;  // a few waits for one do not make it idle
  const double running = run.busiest.running / lived, core_wait = run.busiest.core_wait / lived;
  const double disk = run.busiest.disk / lived, blocked = run.busiest.blocked / lived;

  if (disk >= kMuch) {
    const bool is_memory = run.machine.swapped_a_second >= kSwaps || run.machine.memory_stall >= kMuch;
    return {is_memory ? OutsideLimit::memory : OutsideLimit::disk, disk, gain_without(disk)};
  }
  if (core_wait >= kMuch) return {why_no_core(run), core_wait, gain_without(core_wait)};
  if (wanted >= kMost * run.cores && run.cores > 1) return {OutsideLimit::all_cores, used / run.cores, 0};
  // Where the work of one thread could be spread over all cores; there is mostly some that cannot.
  const double on_all_cores = std::max(0.0, run.cores / std::max(used, 1.0) - 1);
  if (running + core_wait >= kMost) return {OutsideLimit::one_thread, running, on_all_cores};
  if (used >= kMost && used < 1.2 && computing_threads(run) > 1)
    return {OutsideLimit::one_at_a_time, used, on_all_cores};
  if (blocked >= 0.5) return {OutsideLimit::waiting, blocked, gain_without(blocked)};
  return {OutsideLimit::unknown, std::max({running, core_wait, disk, blocked}), 0};
}

}  // namespace tutti
