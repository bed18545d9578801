#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// What a thread that sleeps so that nothing interrupts it has called of the kernel.
enum class SleepingCall : std::uint8_t {
  other,           ///< anything else, also a page that is not in memory; or it is not known
  starts_process,  ///< vfork and its like: the child has its memory until it runs another program, or ends
  syncs_files      ///< fsync and its like
};

/// What the kernel has counted of a thread so far, and what it does at this moment.
struct ThreadCounters {
  int thread = 0;
  Seconds start{};                  ///< since the machine's start, in steps of a tick
  std::string name{};               ///< as the kernel shows it, 15 bytes at most
  bool is_runnable = false;         ///< now: on a processor, or waiting for one
  bool is_uninterruptible = false;  ///< now: it sleeps so that nothing interrupts it: for a disk, a page, a child
  SleepingCall call{};              ///< now, where it is uninterruptible
  Seconds ran{};                    ///< on a processor
  Seconds waited{};                 ///< it could have run, and had no processor
  Seconds disk{};                   ///< it waited for a disk, by delay accounting (see has_delay_accounting)
};

/// What the kernel has counted of a process so far. Bytes are 0 where we may not look (`shows_bytes`). Bytes and faults
/// are with those of the children that it has waited for.
struct ProcessCounters {
  int process = 0;
  int parent = 0;
  int group = 0;    ///< its process group's number
  Seconds start{};  ///< since the machine's start, in steps of a tick
  std::string name{};
  bool is_root = false;    ///< the first process that was named, not one that it has started
  bool has_ended = false;  ///< it has no thread any more, and was not waited for yet
  Seconds ran{};           ///< on a processor, with the threads that have ended; in steps of a tick
  Seconds children_ran{};  ///< the same of its children that have ended and were waited for, theirs included
  Bytes resident{};
  std::int64_t major_faults = 0;  ///< pages that were read from a disk first
  Bytes read{};                   ///< from disks, not from memory that holds a file's pages
  Bytes written{};
  bool shows_bytes = false;
  std::vector<ThreadCounters> threads{};
};

/// The processes and all that these, or those, have started and that still are there, by /proc below `root` ("/" but in
/// tests). What ends meanwhile is left out.
std::vector<ProcessCounters> read_process_tree(const std::vector<int>& processes,
                                               const std::filesystem::path& root = "/");

/// The children of a process, of all its threads.
std::vector<int> children_of(int process, const std::filesystem::path& root = "/");

/// Whether the kernel counts waits for a disk (kernel.task_delayacct); none where it does not say.
std::optional<bool> has_delay_accounting(const std::filesystem::path& root = "/");

/// How a thread has spent its time so far.
struct SchedulerTimes {
  Seconds ran{};     ///< on a processor
  Seconds waited{};  ///< it could have run, and had no processor
};

/// Of the thread whose folder in /proc that is; none where it has ended, or the kernel does not count that.
std::optional<SchedulerTimes> scheduler_times(const std::filesystem::path& thread);

/// How long the calling thread has waited so. 0 where the kernel does not count that.
Seconds own_core_wait();

}  // namespace tutti
