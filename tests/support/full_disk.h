#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <limits>

#include "support/next_function.h"

namespace tutti {

/// While it exists, each file of this process finds no space beyond some bytes, as on a full disk. A program that
/// includes this file calls the write functions below instead of the C library's. With another `error`, writes fail
/// for that reason.
class FullDisk {
 public:
  explicit FullDisk(off_t bytes, int error = ENOSPC) {
    why = error;
    space = bytes;
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { space = kEndless; }

  /// Whether there is none in this file from `at` to `end`.
  static bool lacks_space(int file, off_t end) {
    struct stat facts {};
    return end > space && ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  }
  static bool is_there() { return space != kEndless; }
  /// What a write function returns that finds none.
  static ssize_t refused() {
    errno = why;
    return -1;
  }

 private:
  static constexpr off_t kEndless = std::numeric_limits<off_t>::max();
  static inline std::atomic<off_t> space{kEndless};
  static inline std::atomic<int> why{ENOSPC};
};

}  // namespace tutti

// Weak, so that several files of a program may have them; they go before those of shared libraries, SQLite's calls too.
extern "C" {

__attribute__((weak)) ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t)>("write");
  const bool is_full = tutti::FullDisk::is_there() &&
                       tutti::FullDisk::lacks_space(file, ::lseek(file, 0, SEEK_CUR) + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size);
}

__attribute__((weak)) ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  const bool is_full = tutti::FullDisk::is_there() && tutti::FullDisk::lacks_space(file, at + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size, at);
}

__attribute__((weak)) ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t at) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  const bool is_full = tutti::FullDisk::is_there() && tutti::FullDisk::lacks_space(file, at + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size, at);
}

}  // extern "C"
