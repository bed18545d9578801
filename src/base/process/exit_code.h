#pragma once

namespace tutti {

/// Exit codes, the same for every command of both programs.
enum ExitCode : int {
  kDone = 0,
  kUsage = 2,          // the command line is not valid
  kSomeFailed = 3,     // some files failed, the others are done
  kNothingRan = 4,     // nothing could run at all
  kNotProven = 5,      // a predicted gain was not measured
  kInterrupted = 130,  // SIGINT or SIGTERM
};

}  // namespace tutti
