#include "device/process_tree.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "base/numbers.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// Fields of /proc/PID/stat behind the name, as proc(5) has them.
constexpr std::size_t kState = 0, kParent = 1, kGroup = 2, kMajorFaults = 9, kChildrenMajorFaults = 10, kUser = 11,
                      kSystem = 12, kChildrenUser = 13, kChildrenSystem = 14, kStart = 19, kResident = 21,
                      kDiskDelay = 39;

/// Fields of /proc/PID/stat behind the name, which may hold spaces and brackets: state first.
struct StatLine {
  std::string name{};
  std::vector<std::string> fields{};

  std::int64_t number(std::size_t index) const {
    return index < fields.size() ? leading_number(fields[index]).value_or(0) : 0;
  }
  Seconds ticks(std::size_t index) const {
    return Seconds(static_cast<double>(number(index)) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }
  /// A thread, or a process whose threads have all ended, that was not waited for.
  bool has_ended() const { return fields.empty() || fields[kState] == "Z" || fields[kState] == "X"; }
};

std::optional<StatLine> stat_of(const fs::path& folder) {
  const auto text = read_system_file(folder / "stat");
  if (!text) return std::nullopt;
  const auto open = text->find('('), close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  StatLine line{.name = text->substr(open + 1, close - open - 1)};
  std::istringstream rest(text->substr(close + 1));
  for (std::string field; rest >> field;) line.fields.push_back(field);
  return line;
}

/// By /proc/PID/task/TID/syscall, which begins with the call's number: -1 in a page fault, "running" where it runs.
SleepingCall call_of(const fs::path& folder) {
#ifdef SYS_vfork
  constexpr long kVfork = SYS_vfork;
#else
  constexpr long kVfork = SYS_clone;
#endif
  const auto number = leading_number(read_system_file(folder / "syscall").value_or("")).value_or(-1);
  if (number == kVfork || number == SYS_clone || number == SYS_clone3) return SleepingCall::starts_process;
  for (const long sync : {SYS_fsync, SYS_fdatasync, SYS_sync, SYS_syncfs, SYS_sync_file_range, SYS_msync})
    if (number == sync) return SleepingCall::syncs_files;
  return SleepingCall::other;
}

std::optional<ThreadCounters> thread_of(const fs::path& folder) {
  const auto stat = stat_of(folder);
  const auto thread = number_in<int>(folder.filename().string());
  if (!stat || !thread || stat->has_ended()) return std::nullopt;
  ThreadCounters counters{.thread = *thread,
                          .start = stat->ticks(kStart),
                          .name = stat->name,
                          .is_runnable = stat->fields[kState] == "R",
                          .is_uninterruptible = stat->fields[kState] == "D",
                          .disk = stat->ticks(kDiskDelay)};
  if (counters.is_uninterruptible) counters.call = call_of(folder);
  if (const auto times = scheduler_times(folder)) {
    counters.ran = times->ran;
    counters.waited = times->waited;
  } else {
    counters.ran = stat->ticks(kUser) + stat->ticks(kSystem);
  }
  return counters;
}

/// The number behind "key: " in /proc/PID/io.
Bytes bytes_of(const std::string& text, std::string_view key) {
  const auto value = value_of_key(text, key);
  return Bytes{value ? leading_number(*value).value_or(0) : 0};
}

void add_children(const fs::path& thread, std::vector<int>& children) {
  std::istringstream numbers(read_system_file(thread / "children").value_or(""));
  for (int child = 0; numbers >> child;) children.push_back(child);
}

/// Its children are added to `left`.
std::optional<ProcessCounters> process_of(const fs::path& folder, std::vector<int>& left) {
  const auto stat = stat_of(folder);
  const auto process = number_in<int>(folder.filename().string());
  if (!stat || !process || stat->fields.empty()) return std::nullopt;
  ProcessCounters counters{.process = *process,
                           .parent = static_cast<int>(stat->number(kParent)),
                           .group = static_cast<int>(stat->number(kGroup)),
                           .start = stat->ticks(kStart),
                           .name = stat->name,
                           .ran = stat->ticks(kUser) + stat->ticks(kSystem),
                           .children_ran = stat->ticks(kChildrenUser) + stat->ticks(kChildrenSystem),
                           .resident = Bytes{stat->number(kResident) * ::sysconf(_SC_PAGESIZE)},
                           .major_faults = stat->number(kMajorFaults) + stat->number(kChildrenMajorFaults)};
  if (const auto io = read_system_file(folder / "io")) {
    counters.read = bytes_of(*io, "read_bytes");
    counters.written = bytes_of(*io, "write_bytes");
    counters.shows_bytes = true;
  }
  std::error_code gone;
  for (fs::directory_iterator task(folder / "task", gone), end; !gone && task != end; task.increment(gone)) {
    if (auto thread = thread_of(task->path())) counters.threads.push_back(std::move(*thread));
    add_children(task->path(), left);
  }
  counters.has_ended = stat->has_ended() && counters.threads.empty();  // the first thread may end before others
  return counters;
}

}  // namespace

std::optional<SchedulerTimes> scheduler_times(const fs::path& thread) {
  double ran = 0, waited = 0;  // nanoseconds
  const auto text = read_system_file(thread / "schedstat");
  if (!text || !(std::istringstream(*text) >> ran >> waited)) return std::nullopt;
  return SchedulerTimes{.ran = Seconds(1e-9 * ran), .waited = Seconds(1e-9 * waited)};
}

std::vector<ProcessCounters> read_process_tree(const std::vector<int>& processes, const fs::path& root) {
  std::vector<ProcessCounters> all;
  std::vector<int> left(processes.rbegin(), processes.rend());
  std::set<int> seen;
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;  // it got another parent between two files
    auto counters = process_of(root / "proc" / std::to_string(next), left);
    if (!counters) continue;
    counters->is_root = next == processes[0];
    all.push_back(std::move(*counters));
  }
  return all;
}

std::vector<int> children_of(int process, const fs::path& root) {
  std::vector<int> children;
  std::error_code gone;
  const fs::path tasks = root / "proc" / std::to_string(process) / "task";
  for (fs::directory_iterator task(tasks, gone), end; !gone && task != end; task.increment(gone))
    add_children(task->path(), children);
  return children;
}

std::optional<bool> has_delay_accounting(const fs::path& root) {
  const auto text = read_system_file(root / "proc/sys/kernel/task_delayacct");
  const auto value = text ? leading_number(*text) : std::nullopt;
  return value ? std::optional(*value != 0) : std::nullopt;
}

Seconds own_core_wait() {
  return scheduler_times("/proc/thread-self").value_or(SchedulerTimes()).waited;
}

}  // namespace tutti
