#pragma once

#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "link/session.h"

namespace tutti {

struct RestartLimits {
  int failed_starts = 3;          // in a row without Ready; then we give up
  int restarts_without_work = 8;  // in a row that were Ready and finished nothing; then we give up
  Seconds first_wait{0.1};        // before the second restart in a row; the first one is immediate
  Seconds longest_wait{5.0};      // waits double up to here
  bool once = false;              // never again: a caller that has other workers decides itself when to start another
};

/// Whether and when a worker that ended is started again. Pure.
class RestartPolicy {
 public:
  explicit RestartPolicy(RestartLimits limits) : limits_(limits) {}

  struct Decision {
    std::optional<Error> give_up{};  // set: never again, and why
    Seconds wait{0};                 // else: before the next start
  };

  /// The worker ended; `was_ready` if it ever was, `has_finished_work` if it finished a decoding or detected a
  /// language.
  Decision ended(const Ending& ending, bool was_ready, bool has_finished_work);

 private:
  RestartLimits limits_;
  int failed_starts_ = 0;
  int without_work_ = 0;
};

}  // namespace tutti
