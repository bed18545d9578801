#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/owned.h"

namespace tutti {

/// Children of a process whose executable's name contains `name`.
inline std::vector<pid_t> children_of(pid_t parent, const std::string& name) {
  std::vector<pid_t> found;
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", ignored);
      if (program.filename().string().find(name) != std::string::npos) found.push_back(child);
    }
  }
  return found;
}

/// The one worker of a `tutti` that runs; -1 where there is none, or more than one.
inline pid_t worker_of(pid_t program) {
  const auto workers = children_of(program, "tutti-engine");
  return workers.size() == 1 ? workers[0] : -1;
}

/// A handle on a process that stays its own whatever becomes of the number. Empty when it is gone already.
inline OwnedFd handle_of(pid_t process) {
  return OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

/// Waits until the process behind the handle has ended; false when the time is over first.
inline bool has_ended(const OwnedFd& process, std::chrono::milliseconds limit) {
  if (!process) return true;
  pollfd watched{process.get(), POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(limit.count())) == 1;
}

}  // namespace tutti
