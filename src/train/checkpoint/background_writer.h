#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/guarded.h"

namespace tutti {

/// Does one piece of writing at a time on a thread of its own, so that training goes on. The next piece waits for the
/// one before. One caller.
class BackgroundWriter {
 public:
  BackgroundWriter();
  /// Finishes what was handed in.
  ~BackgroundWriter();

  /// Waits until the writer is free, then hands `work` to it. The error is that of the piece before.
  Result<void> write(std::function<Result<void>()> work);
  /// Waits until all is written.
  Result<void> finish();

 private:
  struct State {
    std::function<Result<void>()> work{};  // empty: free
    Result<void> last{};
    bool ends = false;
  };
  void run();

  Guarded<State> state_;
  std::jthread thread_;  // last: it uses the above
};

}  // namespace tutti
