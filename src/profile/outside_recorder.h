#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "advise/outside_run.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "device/process_tree.h"

namespace tutti {

/// Looks at a process and all that it starts, from outside, until `stop`: by /proc, on a thread of its own. A thread
/// that ends before the next look may not be seen.
class OutsideRecorder {
 public:
  /// Looks every 50 ms, or less often where a look takes longer than a hundredth of that.
  explicit OutsideRecorder(int process);

  /// Ends that. What was seen; `elapsed` is 0 where nothing was.
  OutsideRun stop();

 private:
  struct SeenThread {
    std::pair<std::string, std::string> group{};  // names of process and thread
    ThreadCounters last{};
    ThreadTimes times{};
  };
  struct State {
    std::map<int, SeenThread> threads{};         // by number
    std::map<int, ProcessCounters> processes{};  // as last seen, without their threads
    Bytes most_memory{};
    int most_runnable = 0;
    Clock::Instant first{}, last{};
    Clock::Instant next{};  // nothing is looked at before
    int looks = 0;
  };

  void look();
  void note(State& state, const std::vector<ProcessCounters>& processes, Clock::Instant now) const;

  int process_;
  Guarded<State> state_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

/// A table of the threads, what the program took of disk and memory, and what limits it.
std::string outside_text(const OutsideRun& run);

/// The same as one JSON object, without a line end: elapsed, cores, cores_used, limit (name, share, gain), threads
/// (each with process, thread, processes, count, running, core_wait, disk and blocked, which are shares of their time),
/// busiest, major_faults, read_bytes, written_bytes, most_memory_bytes and other_cores.
std::string outside_json(const OutsideRun& run);

}  // namespace tutti
