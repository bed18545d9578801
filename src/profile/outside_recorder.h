#pragma once

#include <memory>
#include <set>

#include "advise/outside_run.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "profile/program_times.h"

namespace tutti {

/// Makes this process the parent of all that its children leave behind, so that an OutsideRecorder sees and counts that
/// too. For good: for a program that does nothing but to look at another.
void adopt_orphans();

/// Looks at a child of this process and at all that it starts, from outside, until `stop`: by /proc, on a thread of its
/// own. After `adopt_orphans` also at what loses its parent, and it waits for that.
class OutsideRecorder {
 public:
  /// Looks every 20 ms, or less often where a look takes longer than a hundredth of that.
  explicit OutsideRecorder(int process);

  /// Ends that; the child may have been waited for. What was seen; `elapsed` is 0 where nothing was.
  OutsideRun stop();

 private:
  struct State {
    ProgramTimes times{};
    Clock::Instant next{};  // nothing is looked at before
  };

  void look();
  ProgramLook look_now() const;

  int process_;
  std::set<int> others_;  // children of this process that are none of the program's
  Seconds ended_before_;
  Guarded<State> state_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

/// Signals the processes of that tree that are of our process group, as a terminal signals them at Ctrl+C, and has
/// those go on that were stopped.
void signal_program(int process, int signal);

/// A table of the threads, what the program took of disk and memory, and what limits it.
std::string outside_text(const OutsideRun& run);

/// The same as one JSON object, without a line end: elapsed, cores, cores_used, limit (name, share, gain), threads
/// (each with process, thread, processes, count, running, core_wait, disk and blocked, which are shares of their time),
/// busiest, major_faults, read_bytes, written_bytes, most_memory_bytes, other_cores, unseen_s, disk_evidence and
/// still_running.
std::string outside_json(const OutsideRun& run);

}  // namespace tutti
