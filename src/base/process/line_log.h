#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"

namespace tutti {

/// Passes the lines that a child writes into a pipe on to the log, each behind a prefix and, where the child is one of
/// ours, at the level that it named. Remembers the last ones as they were written: they are the best evidence of how it
/// died. Owns one thread, which blocks on the pipe and on the log.
class LineLog {
 public:
  /// Lines kept; longer lines than kLongest bytes are passed on in parts.
  static constexpr std::size_t kKept = 20;
  static constexpr std::size_t kLongest = 4096;

  /// Reads `pipe`'s end until all writers are gone or `finish`.
  static Result<std::unique_ptr<LineLog>> start(OwnedFd pipe, std::string prefix);
  ~LineLog() { finish(); }

  /// Passes on what is in the pipe now and ends, even when a grandchild still holds the pipe. Idempotent; one caller.
  void finish();

  /// The last lines so far, oldest first, without prefix.
  std::vector<std::string> last() const;

 private:
  LineLog(OwnedFd pipe, OwnedFd finished, std::string prefix);
  void run();
  bool read_block(std::string& line);
  void pass_on(std::string line);

  OwnedFd pipe_;
  OwnedFd finished_;  // eventfd
  std::string prefix_;
  Guarded<std::deque<std::string>> last_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace tutti
