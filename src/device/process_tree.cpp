#include "device/process_tree.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/numbers.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Fields of /proc/PID/stat behind the name, which may hold spaces and brackets: state first.
struct StatLine {
  std::string name{};
  std::vector<std::string> fields{};

  std::int64_t number(std::size_t index) const {
    return index < fields.size() ? leading_number(fields[index]).value_or(0) : 0;
  }
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

std::optional<ThreadCounters> thread_of(const fs::path& folder) {
  const auto stat = stat_of(folder);
  const auto thread = number_in<int>(folder.filename().string());
  if (!stat || !thread || stat->fields.empty()) return std::nullopt;
  ThreadCounters counters{.thread = *thread,
                          .name = stat->name,
                          .is_runnable = stat->fields[0] == "R",
                          .waits_for_disk = stat->fields[0] == "D"};
  if (const auto times = scheduler_times(folder)) {
    counters.ran = times->ran;
    counters.waited = times->waited;
  } else {
    constexpr std::size_t kUser = 11, kSystem = 12;  // of the fields behind the name, in ticks
    counters.ran = Seconds(static_cast<double>(stat->number(kUser) + stat->number(kSystem)) /
                           static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }
  return counters;
}

/// The number behind "key: " in /proc/PID/io.
Bytes bytes_of(const std::string& text, std::string_view key) {
  const auto value = value_of_key(text, key);
  return Bytes{value ? leading_number(*value).value_or(0) : 0};
}

/// Its children are added to `left`.
std::optional<ProcessCounters> process_of(const fs::path& folder, std::vector<int>& left) {
  const auto stat = stat_of(folder);
  const auto process = number_in<int>(folder.filename().string());
  if (!stat || !process || stat->fields.empty() || stat->fields[0] == "Z") return std::nullopt;
  constexpr std::size_t kMajorFaults = 9, kResident = 21;
  ProcessCounters counters{.process = *process,
                           .name = stat->name,
                           .resident = Bytes{stat->number(kResident) * ::sysconf(_SC_PAGESIZE)},
                           .major_faults = stat->number(kMajorFaults)};
  if (const auto io = read_system_file(folder / "io")) {
    counters.read = bytes_of(*io, "read_bytes");
    counters.written = bytes_of(*io, "write_bytes");
  }
  std::error_code gone;
  for (fs::directory_iterator task(folder / "task", gone), end; !gone && task != end; task.increment(gone)) {
    if (auto thread = thread_of(task->path())) counters.threads.push_back(std::move(*thread));
    std::istringstream children(read_system_file(task->path() / "children").value_or(""));
    for (int child = 0; children >> child;) left.push_back(child);
  }
  return counters;
}

}  // namespace

std::optional<SchedulerTimes> scheduler_times(const fs::path& thread) {
  double ran = 0, waited = 0;  // nanoseconds
  const auto text = read_system_file(thread / "schedstat");
  if (!text || !(std::istringstream(*text) >> ran >> waited)) return std::nullopt;
  return SchedulerTimes{.ran = Seconds(1e-9 * ran), .waited = Seconds(1e-9 * waited)};
}

std::vector<ProcessCounters> read_process_tree(int process, const fs::path& root) {
  std::vector<ProcessCounters> all;
  std::vector<int> left{process};
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    auto counters = process_of(root / "proc" / std::to_string(next), left);
    if (!counters) continue;
    counters->is_root = next == process;
    all.push_back(std::move(*counters));
  }
  return all;
}

Seconds own_core_wait() {
  return scheduler_times("/proc/thread-self").value_or(SchedulerTimes()).waited;
}

}  // namespace tutti
