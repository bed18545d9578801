#pragma once

#include <sys/file.h>

#include <atomic>
#include <cerrno>

#include "support/next_function.h"

namespace tutti {

/// While it exists, no file of this process can be locked, as in a network folder without its lock service. A program
/// that includes this file calls the function below instead of the C library's.
class NoLocks {
 public:
  NoLocks() { are_there = false; }
  NoLocks(const NoLocks&) = delete;
  NoLocks& operator=(const NoLocks&) = delete;
  ~NoLocks() { are_there = true; }

  static inline std::atomic<bool> are_there{true};
};

}  // namespace tutti

// Weak, so that several files of a program may have it.
extern "C" __attribute__((weak)) int flock(int file, int how) noexcept {
  static const auto next = tutti::next_function<int(int, int)>("flock");
  return tutti::NoLocks::are_there ? next(file, how) : (errno = ENOLCK, -1);
}
