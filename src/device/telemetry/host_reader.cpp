#include "device/telemetry/host_reader.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "device/machine.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Takes the next word off a line of numbers.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

long long next_number(std::string_view& line) {
  return leading_number(next_word(line)).value_or(0);
}

std::string_view next_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

struct ProcessFacts {
  std::string name;
  int parent = 0;
  double seconds = 0;
  Bytes resident{};
};

/// From /proc/PID/stat. The second field, the name in parentheses, may hold anything (proc(5)).
std::optional<ProcessFacts> process_facts(const fs::path& root, int pid) {
  const auto stat = read_system_file(root / "proc" / std::to_string(pid) / "stat");
  if (!stat) return std::nullopt;
  const auto open = stat->find('('), close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessFacts facts{.name = stat->substr(open + 1, close - open - 1)};
  static const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const long page = ::sysconf(_SC_PAGESIZE);
  std::string_view rest = std::string_view(*stat).substr(close + 1);
  for (int field = 3; field <= 24; ++field) {
    const auto word = next_word(rest);
    const auto number = leading_number(word).value_or(0);
    if (field == 4) facts.parent = static_cast<int>(number);
    if (field == 14 || field == 15) facts.seconds += static_cast<double>(number) / ticks_per_second;
    if (field == 24) facts.resident = Bytes{number * page};
  }
  return facts;
}

/// The whole disk below a folder, by its numbers in /proc/diskstats; empty for what has none.
std::string disk_of(const fs::path& folder) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return {};
  return std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev));
}

}  // namespace

void HostReader::read_cores(HostSnapshot& host) {
  const std::string stat = read_system_file(root_ / "proc/stat").value_or("");
  std::string_view rest = stat;
  std::map<int, Busy> now;
  while (rest.starts_with("cpu")) {
    std::string_view line = next_line(rest);
    const auto name = next_word(line);
    const int core = name == "cpu" ? -1 : static_cast<int>(leading_number(name.substr(3)).value_or(-1));
    Busy& ticks = now[core];
    // user nice system idle iowait irq softirq steal; guest time is in user already.
    for (int field = 0; field < 8; ++field) {
      const auto number = next_number(line);
      ticks.all += number;
      if (field != 3 && field != 4) ticks.busy += number;
    }
  }
  const auto share = [&](int core) -> std::optional<double> {
    const auto then = cores_.find(core), found = now.find(core);
    if (then == cores_.end() || found == now.end()) return std::nullopt;
    const auto all = found->second.all - then->second.all, busy = found->second.busy - then->second.busy;
    if (all <= 0) return std::nullopt;
    return std::clamp(static_cast<double>(busy) / static_cast<double>(all), 0.0, 1.0);
  };
  host.busy = share(-1);
  const int last = now.empty() ? -1 : now.rbegin()->first;
  for (int core = 0; core <= last; ++core) host.core_busy.push_back(share(core));
  cores_ = std::move(now);
}

void HostReader::read_memory(HostSnapshot& host) const {
  if (const auto memory = tutti::read_memory(root_)) {
    host.memory_total = memory->total;
    host.memory_available = memory->available;
  }
  const std::string info = read_system_file(root_ / "proc/meminfo").value_or("");
  host.swap_total = kilobytes_of_key(info, "SwapTotal");
  const auto free = kilobytes_of_key(info, "SwapFree");
  if (host.swap_total && free) host.swap_used = Bytes{host.swap_total->value - free->value};
}

void HostReader::read_disks(HostSnapshot& host, std::optional<Seconds> passed) {
  if (disks_.empty()) return;
  std::map<std::string, Traffic> now;
  const std::string stats = read_system_file(root_ / "proc/diskstats").value_or("");
  for (std::string_view rest = stats; !rest.empty();) {
    std::string_view line = next_line(rest);
    const auto major_number = next_number(line), minor_number = next_number(line);
    long long field[8] = {};
    next_word(line);  // name
    for (auto& number : field) number = next_number(line);
    // Sectors of 512 bytes, whatever the disk's own are (kernel, iostats.rst).
    now[std::to_string(major_number) + ":" + std::to_string(minor_number)] = {field[2] * 512, field[6] * 512};
  }
  for (const auto& path : disks_) {
    DiskSnapshot disk{.path = path.string()};
    if (struct statvfs facts{}; ::statvfs(path.c_str(), &facts) == 0) {
      const auto block = static_cast<std::int64_t>(facts.f_frsize);
      disk.total = Bytes{static_cast<std::int64_t>(facts.f_blocks) * block};
      disk.free = Bytes{static_cast<std::int64_t>(facts.f_bavail) * block};
    }
    const auto key = disk_of(path);
    const auto then = traffic_.find(key), found = now.find(key);
    if (passed && then != traffic_.end() && found != now.end()) {
      disk.read = static_cast<double>(found->second.read - then->second.read) / passed->count();
      disk.written = static_cast<double>(found->second.written - then->second.written) / passed->count();
    }
    host.disks.push_back(std::move(disk));
  }
  traffic_ = std::move(now);
}

void HostReader::add_descendants(int pid, std::set<int>& tree) const {
  if (!tree.insert(pid).second) return;
  std::error_code gone;  // threads come and go
  const fs::path threads = root_ / "proc" / std::to_string(pid) / "task";
  for (const auto& thread : fs::directory_iterator(threads, gone)) {
    std::istringstream children(read_system_file(thread.path() / "children").value_or(""));
    for (int child = 0; children >> child;) add_descendants(child, tree);
  }
}

void HostReader::read_processes(HostSnapshot& host, std::optional<Seconds> passed, int tree,
                                const std::set<int>& others) {
  std::set<int> own;
  add_descendants(tree, own);
  std::set<int> all = own;
  all.insert(others.begin(), others.end());
  std::map<int, double> now;
  for (const int pid : all) {
    auto facts = process_facts(root_, pid);
    if (!facts) {
      // Another user's, where /proc is mounted with hidepid.
      if (others.contains(pid) && root_ == "/" && ::kill(pid, 0) != 0 && errno == EPERM)
        host.processes.push_back({.pid = pid});
      continue;
    }
    now[pid] = facts->seconds;
    ProcessSnapshot process{.pid = pid, .parent = facts->parent, .name = std::move(facts->name)};
    process.own = own.contains(pid);
    process.resident = facts->resident;
    const auto then = process_seconds_.find(pid);
    if (passed && then != process_seconds_.end())
      process.cores = std::max(0.0, facts->seconds - then->second) / passed->count();
    host.processes.push_back(std::move(process));
  }
  process_seconds_ = std::move(now);
}

HostSnapshot HostReader::read(Clock::Instant now, int tree, const std::set<int>& others) {
  std::optional<Seconds> passed;
  if (before_ && now > *before_) passed = now - *before_;
  HostSnapshot host;
  read_cores(host);
  read_memory(host);
  read_disks(host, passed);
  read_processes(host, passed, tree, others);
  before_ = now;
  return host;
}

}  // namespace tutti
