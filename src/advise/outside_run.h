#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/cause.h"
#include "base/units.h"

namespace tutti {

/// What threads of any program did, as seen from outside. The four add up to the time that they lived.
struct ThreadTimes {
  Seconds running{};    ///< on a processor
  Seconds core_wait{};  ///< it could have run, and had no processor
  Seconds disk{};       ///< for a disk, or for a page of memory
  Seconds blocked{};    ///< for anything else: a lock, a socket, a timer, a device, other threads

  Seconds all() const { return running + core_wait + disk + blocked; }
  Seconds wanted() const { return running + core_wait + disk; }  ///< it was at work, or kept from it
  ThreadTimes& operator+=(const ThreadTimes& other);
};

/// Threads of one name in processes of one name.
struct ThreadGroup {
  std::string process;
  std::string thread;
  int processes = 0;
  int threads = 0;    ///< that were seen
  int computing = 0;  ///< at once, each for a twentieth of the run or more; what follows one another counts as one
  ThreadTimes times{};
};

/// How waits for a disk were found.
enum class DiskEvidence : std::uint8_t {
  looks,   ///< a look found the thread asleep so that nothing interrupts it, and bytes or pages had moved
  counted  ///< by that, and by what the kernel counts of each thread (kernel.task_delayacct)
};

/// A run of a program that knows nothing of us. Plain data.
struct OutsideRun {
  Seconds elapsed{};
  int cores = 1;                      ///< that it could use
  std::vector<ThreadGroup> groups{};  ///< the ones that did most first
  ThreadTimes busiest{};              ///< of the one thread that ran, or wanted to run, for longest; all of the run
  std::string busiest_name{};
  int busiest_processes = 1;  ///< more: its time is that of threads of so many processes, one after the other
  Seconds unseen{};           ///< processor time of threads and processes that ended between two looks
  Seconds unwaited{};         ///< processor time of processes that no other has waited for until the end
  int still_running = 0;      ///< processes that the program has started and that outlived it
  DiskEvidence disk_evidence = DiskEvidence::looks;
  int most_runnable = 0;  ///< threads that ran or wanted to at once, at most
  std::int64_t major_faults = 0;
  Bytes read{}, written{};
  Bytes most_memory{};  ///< of all processes together, at its most
  MachineEvidence machine{};
};

/// What limits a program that is seen from outside.
enum class OutsideLimit {
  all_cores,         ///< it computes on all of the cores that it may use
  one_thread,        ///< one thread computes nearly all the time while cores are free
  one_at_a_time,     ///< several threads compute, but together no more than one core: a lock, as Python's GIL
  one_process,       ///< the same of processes: each is started when the one before has ended, or waits for another
  too_many_threads,  ///< its threads wait for cores that others of its own have
  other_processes,   ///< they wait for cores that other programs have
  cpu_quota,         ///< the control group's quota holds it back
  disk,
  memory,   ///< pages come back from a disk, or memory is freed first
  waiting,  ///< its busiest thread waits for something that is none of these
  unknown,  ///< nothing of this is most of the time
};

/// The words for people: "one thread".
std::string_view name_of(OutsideLimit limit);

struct OutsideFinding {
  OutsideLimit limit = OutsideLimit::unknown;
  double share = 0;  ///< of the time: what the evidence is about, 0 to 1
  double gain = 0;   ///< the most that there is to gain, as a share of the rate: without that time
};

/// What limits the run, by its busiest thread: what goes on beside that one costs nothing as long as it is at work.
/// Pure.
OutsideFinding finding_of(const OutsideRun& run);

}  // namespace tutti
