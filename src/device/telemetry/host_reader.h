#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/telemetry/host_snapshot.h"

namespace tutti {

/// Reads the machine's load from /proc and /sys below `root` ("/" but in tests), and rates from one reading to the
/// next. One thread; some hundred microseconds per reading and a few more per process.
class HostReader {
 public:
  explicit HostReader(std::vector<std::filesystem::path> disks = {}, std::filesystem::path root = "/")
      : disks_(std::move(disks)), root_(std::move(root)) {}

  /// The processes in it are those of `tree` (a process and its descendants) and `others`.
  HostSnapshot read(Clock::Instant now, int tree, const std::set<int>& others);

 private:
  struct Busy {
    long long busy = 0, all = 0;  // ticks
  };
  struct Traffic {
    long long read = 0, written = 0;  // bytes
  };
  void read_cores(HostSnapshot& host);
  void read_memory(HostSnapshot& host) const;
  void read_disks(HostSnapshot& host, std::optional<Seconds> passed);
  void read_processes(HostSnapshot& host, std::optional<Seconds> passed, int tree, const std::set<int>& others);
  void add_descendants(int pid, std::set<int>& tree) const;

  std::vector<std::filesystem::path> disks_;
  std::filesystem::path root_;
  std::optional<Clock::Instant> before_;
  std::map<int, Busy> cores_;  // -1: all together
  std::map<std::string, Traffic> traffic_;
  std::map<int, double> process_seconds_;
};

}  // namespace tutti
