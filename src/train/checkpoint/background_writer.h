#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "train/parameter.h"

namespace tutti {

/// Copies on the CPU, which training may not change any more.
std::vector<Parameter> copies(const std::vector<Parameter>& tensors);

/// What is written is copied first, for which memory may be too short: then Fault::exhausted, which names `what`.
Result<void> write_copies(const std::string& what, const std::function<Result<void>()>& write);

/// Does one piece of writing at a time on a thread of its own, so that training goes on. The next piece waits for the
/// one before. A piece that fails is logged at once, and made good by the next of its kind: what a full disk costs is
/// that piece, unless it stays full. One caller.
class BackgroundWriter {
 public:
  BackgroundWriter();
  /// Finishes what was handed in.
  ~BackgroundWriter();

  /// Waits until the writer is free, then hands `work` to it. An error, and nothing handed in, where two pieces of a
  /// kind have failed one behind the other.
  Result<void> write(const std::string& kind, std::function<Result<void>()> work);
  /// Waits until all is written; the error of the last piece of a kind, where it failed.
  Result<void> finish();
  /// Likewise, but only of that kind.
  Result<void> finish(const std::string& kind);

 private:
  struct Failure {
    Error error{};
    int in_row = 0;
  };
  struct State {
    std::function<Result<void>()> work{};  // handed in, not begun
    std::string kind{};
    bool is_busy = false;                       // from the time a piece is handed in until it is written
    std::map<std::string, Failure> failures{};  // failures of the kinds whose last piece failed
    bool ends = false;
  };
  void run();
  Result<void> wait_for_work(int failures);

  Guarded<State> state_;
  std::jthread thread_;  // last: it uses the above
};

}  // namespace tutti
