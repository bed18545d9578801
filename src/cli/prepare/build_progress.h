#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "cli/interrupt.h"

namespace tutti {

// What a command that reads thousands of files shows while it does: enough to see that it goes on, and how long it may
// take, without filling a log.

/// One line on standard error now and then while a set is built, "12 of 340 files": repainted on a terminal five times
/// a second, else a line every ten seconds. Any thread.
class BuildProgress {
 public:
  /// `interrupt` outlives it; `what` is counted, as "files".
  BuildProgress(const Interrupt& interrupt, std::string what);

  /// Shows how far it is; false once the user wants it to end.
  /// Fewer lines than calls: what is shown is how far it was then, and at last that all is done.
  bool operator()(std::int64_t done, std::int64_t all);

 private:
  const Interrupt& interrupt_;
  std::string what_;
  bool terminal_;
  Guarded<Clock::Instant> shown_{Clock::real().now()};
};

/// Prints the sentence of `conclude` (profile/recorded_run.h) at a run's end, behind all standard output, and returns
/// `code`, or what its error comes to where that is kDone.
int end_with_finding(const Result<std::string>& sentence, int code);

}  // namespace tutti
