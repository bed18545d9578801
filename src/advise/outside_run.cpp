#include "advise/outside_run.h"

#include <algorithm>
#include <string>

namespace tutti {
namespace {

constexpr double kMost = 0.85;          // share of the time, or of the cores, that is as good as all of it
constexpr double kMuch = 0.2;           // share of the time that is worth a finding before others
constexpr double kOneCore = 1.2;        // cores that are no more than one
constexpr double kBlockedInTurn = 0.1;  // share of the time that each of several threads waits for the others
constexpr double kSomeCores = 0.2;      // cores of other programs that disturb
constexpr double kSwaps = 100;          // pages a second

/// The most that a run gains without a share of its time.
double gain_without(double share) {
  return share < 1 ? 1 / (1 - share) - 1 : 0;
}

/// What computes, as a share of the run's time.
struct Computing {
  int threads = 0;            // at once
  bool in_processes = false;  // in more than one
  double running = 0, core_wait = 0;
};

Computing computing_of(const OutsideRun& run) {
  Computing all;
  std::string process;
  for (const ThreadGroup& group : run.groups) {
    if (group.computing == 0) continue;
    all.in_processes |= group.processes > 1 || (all.threads > 0 && group.process != process);
    process = group.process;
    all.threads += group.computing;
    all.running += group.times.running / run.elapsed;
    all.core_wait += group.times.core_wait / run.elapsed;
  }
  return all;
}

/// Why threads that could have run had no core: others of the program had it, or other programs. `used`: the cores that
/// the program's threads had, `wanted`: with those that they waited for. Where all cores are taken, what
/// needs one for a moment waits for long, so that `wanted` alone proves nothing.
OutsideLimit why_no_core(const OutsideRun& run, double used, double wanted) {
  if (run.machine.throttled_cores >= kSomeCores) return OutsideLimit::cpu_quota;
  const bool others_had_more = run.machine.other_cores >= std::max(kSomeCores, used);
  return wanted <= run.cores || others_had_more ? OutsideLimit::other_processes : OutsideLimit::too_many_threads;
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
    case OutsideLimit::one_process: return "one process at a time";
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
  if (run.busiest.all().count() <= 0 || run.elapsed.count() <= 0) return {};
  ThreadTimes all{};
  for (const ThreadGroup& group : run.groups) all += group.times;
  const double used = all.running / run.elapsed;             // cores
  const double wanted = used + all.core_wait / run.elapsed;  // a few waits for one do not make it idle
  const Seconds lived = run.busiest.all();
  const double running = run.busiest.running / lived, core_wait = run.busiest.core_wait / lived;
  const double disk = run.busiest.disk / lived, blocked = run.busiest.blocked / lived;
  const Computing computing = computing_of(run);
  const double of_all = computing.running + computing.core_wait;
  const bool take_turns =
      computing.threads > 1 && computing.running < kOneCore && of_all >= kMost && blocked >= kBlockedInTurn;

  // Of threads that take turns one always wants to run. They lose what all of them wait together, for others' cores.
  const bool has_neighbours = run.machine.other_cores >= kSomeCores || run.machine.throttled_cores >= kSomeCores;
  const double no_core = !take_turns ? core_wait : has_neighbours ? computing.core_wait / of_all : 0;
  if (disk >= std::max(kMuch, no_core)) {
    const bool is_memory = run.machine.swapped_a_second >= kSwaps || run.machine.memory_stall >= kMuch;
    return {is_memory ? OutsideLimit::memory : OutsideLimit::disk, disk, gain_without(disk)};
  }
  if (no_core >= kMuch) return {why_no_core(run, used, wanted), no_core, gain_without(no_core)};
  if (wanted >= kMost * run.cores && run.cores > 1) return {OutsideLimit::all_cores, used / run.cores, 0};
  // Where the work of one thread could be spread over all cores; there is mostly some that cannot.
  const double on_all_cores = std::max(0.0, run.cores / std::max(used, 1.0) - 1);
  if (running + core_wait >= kMost) {
    if (run.busiest_processes > 1) return {OutsideLimit::one_process, used, on_all_cores};
    return {OutsideLimit::one_thread, running, on_all_cores};
  }
  if (take_turns)
    return {computing.in_processes ? OutsideLimit::one_process : OutsideLimit::one_at_a_time, used, on_all_cores};
  if (blocked >= 0.5) return {OutsideLimit::waiting, blocked, gain_without(blocked)};
  return {OutsideLimit::unknown, std::max({running, core_wait, disk, blocked}), 0};
}

}  // namespace tutti
