#pragma once

#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A child in its own process group (Ctrl+C reaches the parent alone), with an empty standard input and only the
/// descriptors it is handed. Killed and reaped when its owner goes.
class ChildProcess {
 public:
  /// `handed`: pairs of our descriptor and the number the child sees it under. Standard error is shared.
  static Result<ChildProcess> start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                    std::span<const std::pair<int, int>> handed);
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~ChildProcess();

  void kill() const;
  /// Waits for its end; waitpid's status.
  int wait();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

}  // namespace tutti
