#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <limits>

#include "support/next_function.h"

namespace tutti {

/// While it lives, the files of this process find no room beyond some bytes each: what a full disk looks like from
/// here. By the write functions below, which a program that includes this file calls instead of the C library's. With
/// another `error`, a disk that refuses writes for that reason.
class FullDisk {
 public:
  explicit FullDisk(off_t bytes, int error = ENOSPC) {
    why = error;
    room = bytes;
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { room = kEndless; }

  /// Whether there is none in this file from `at` to `end`.
  static bool has_no_room(int file, off_t end) {
    struct stat facts {};
    return end > room && ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  }
  static bool is_there() { return room != kEndless; }
  /// What a write function returns that finds none.
  static ssize_t refused() {
    errno = why;
    return -1;
  }

 private:
  static constexpr off_t kEndless = std::numeric_limits<off_t>::max();
  static inline std::atomic<off_t> room{kEndless};
  static inline std::atomic<int> why{ENOSPC};
};

}  // namespace tutti

// Weak, so that several files of a program may have them; they go before those of shared libraries, SQLite's calls too.
extern "C" {

__attribute__((weak)) ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t)>("write");
  const bool is_full = tutti::FullDisk::is_there() &&
                       tutti::FullDisk::has_no_room(file, ::lseek(file, 0, SEEK_CUR) + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size);
}

__attribute__((weak)) ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  const bool is_full = tutti::FullDisk::is_there() && tutti::FullDisk::has_no_room(file, at + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size, at);
}

__attribute__((weak)) ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t at) {
  static const auto next = tutti::next_function<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  const bool is_full = tutti::FullDisk::is_there() && tutti::FullDisk::has_no_room(file, at + static_cast<off_t>(size));
  return is_full ? tutti::FullDisk::refused() : next(file, bytes, size, at);
}

}  // extern "C"
