#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "advise/outside_run.h"
#include "base/units.h"
#include "device/process_tree.h"

namespace tutti {

/// What a look at a program found. Plain data.
struct ProgramLook {
  Seconds at{};                              ///< since the machine's start
  std::vector<ProcessCounters> processes{};  ///< that are there
  Seconds ended{};  ///< processor time of all that it started, has ended and was waited for up to the looking process
};

/// Adds up what the threads of a program did, from looks at it. What ended between two looks counts by its parent's
/// counters. One thread.
class ProgramTimes {
 public:
  void add(const ProgramLook& look);

  /// Of all looks, without what only the machine knows. Ends the adding.
  OutsideRun finish();

 private:
  using Names = std::pair<std::string, std::string>;  // of process and thread
  struct SeenThread {
    Names names{};
    int process = 0;
    ThreadCounters last{};
    ThreadTimes times{};
    Seconds since{}, until{};
    Seconds undecided{};     // not on a core, and no look has found yet for what
    bool on_disk = false;    // what the last look that found it waiting found
    std::int64_t moved = 0;  // of its process by then: bytes from and to disks, and pages
    int look = 0;
  };
  struct SeenProcess {
    ProcessCounters last{};               // without its threads
    Seconds threads{};                    // of `last.ran`: what its threads had run when they were looked at
    Seconds ended{};                      // of `last.children_ran`: what is counted of processes that ended
    Seconds unseen{}, unseen_children{};  // beside these: what no look has seen
    std::int64_t ended_faults = 0;  // of processes that ended; these and bytes are in `last` once they are waited for
    Bytes ended_read{}, ended_written{};
    Names ended_thread{}, ended_child{};  // of the last one that was seen
    int look = 0, looks_short = 0;        // how often in a row less was counted of its children than was seen
    std::int64_t faults() const { return std::max(last.major_faults, ended_faults); }
    std::int64_t moved() const { return faults() + read().value + written().value; }
    Bytes read() const { return std::max(last.read, ended_read); }
    Bytes written() const { return std::max(last.written, ended_written); }
    Seconds counted() const { return threads + unseen + ended + unseen_children; }
  };
  /// Threads of one name that followed one another: what they did, a thread could have done alone.
  struct Lane {
    ThreadTimes times{};
    Seconds until{}, longest{};  // that one of its threads ran
    int last_process = 0, processes = 0;
  };
  struct Group {
    int threads = 0;
    std::vector<Lane> lanes{};
    std::vector<Seconds> unseen{};  // the first: of one at a time; the next: of what ran beside it
    bool has_unseen_processes = false;
  };
  enum class Unseen { threads, processes };

  void note(const ThreadCounters& thread, SeenProcess& process, Seconds passed);
  static bool waits_for_disk(const ThreadCounters& thread, SeenThread& seen, const SeenProcess& process);
  void end(SeenThread thread);
  void end(const SeenProcess& process);
  void end_what_is_gone();
  int depth_of(int process) const;
  void count_unseen(SeenProcess& process, Seconds passed);
  void add_unseen(Unseen what, const Names& names, Seconds ran, Seconds passed);
  void add_group(const Names& names, const Group& group);

  std::map<std::pair<int, double>, SeenThread> threads_{};  // by number and start
  std::map<int, SeenProcess> processes_{};
  SeenProcess self_{};  // the looking process
  std::map<Names, Group> groups_{};
  std::map<std::string, int> process_counts_{};
  OutsideRun run_{};
  Seconds first_{}, last_{};
  int looks_ = 0;
};

}  // namespace tutti
