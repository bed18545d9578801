#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The lines of a stream, as they come: without their ends, as Unix or Windows writes them, without the mark of UTF-8
/// that Windows' editors begin with, and none that is empty. For lists that another program writes while they are read:
/// a pipe's names are there as soon as their lines are whole. Where NULs end them, all between two is a line. One
/// thread.
class LineReader {
 public:
  /// Reads descriptor `fd`, borrowed; `begun` was read of it before. `end`, '\n' or '\0', ends each line.
  LineReader(int fd, std::string begun, char end = '\n') : fd_(fd), rest_(std::move(begun)), end_(end) {}

  /// Waits for a line; it and those that are there with it. Empty: the stream is over, and its last line, which may
  /// have no end, was among those before. Fails with the system's fault where the stream cannot be read: the stream has
  /// to be open for reading.
  Result<std::vector<std::string>> next();

 private:
  std::vector<std::string> take_lines();

  int fd_;
  std::string rest_;  // of which no whole line has been taken
  char end_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

}  // namespace tutti
