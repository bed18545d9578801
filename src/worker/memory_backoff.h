#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "worker/caught_fault.h"
#include "worker/request_messages.h"

namespace tutti {

/// Makes do with the memory that a device has: work that runs out of it is done again with less, until it succeeds or
/// nothing is left to give up. One thread.
class MemoryBackoff {
 public:
  /// Gives up something for good or for now, and returns what, for the log: empty: not worth a line. Nothing: it has
  /// nothing to give up.
  using Step = std::function<std::optional<std::string>()>;

  /// steps: the cheapest first; the first that gives up something is followed by another try. release: returns to the
  /// device what is kept for reuse, behind every step. Lines and the loss of the device go to `reply`.
  MemoryBackoff(std::vector<Step> steps, std::function<void()> release, Reply reply);

  /// What `work` returns, or what it throws as an error that begins with `doing`. What it needs meanwhile it holds
  /// itself: steps may close what is not held. Fault::exhausted: there is no memory for it, whatever is given up.
  template <class Work>
  auto run(const char* doing, Work work) -> Result<decltype(work())> {
    for (;;) {
      CaughtFault fault;
      try {
        return work();
      } catch (...) {
        fault = caught_fault(doing);
      }
      // Outside the handler: the exception may hold the very memory that ran out.
      if (!gives_up_some(fault)) return tl::unexpected<Error>(std::move(fault.error));
    }
  }

  /// Only a new process helps; the reason was answered.
  bool is_device_lost() const { return is_device_lost_; }

 private:
  bool gives_up_some(const CaughtFault& fault);

  const std::vector<Step> steps_;
  const std::function<void()> release_;
  const Reply reply_;
  bool is_device_lost_ = false;
};

}  // namespace tutti
