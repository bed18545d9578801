#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

struct RestartLimits {
  int failed_starts = 0;          // in a row that did not get ready: then the device is left out; 0: no limit
  int first_starts = 0;           // in a row that did not get ready, before the first that did: likewise
  int restarts_without_work = 0;  // in a row that got ready and finished nothing: likewise
  Seconds first_wait{0.5};  // before a worker follows one that did not get ready, or two that did not last; doubles
  Seconds longest_wait{30};
  Seconds long_run{10};  // a worker that lasted longer is followed at once
};

/// What a worker came to, from its start to its end.
struct WorkerRun {
  bool was_ready = false;
  bool has_finished_work = false;  // a decoding, or the detection of a language
  Seconds lasted{};
};

/// Whether and when a device's worker that has ended is started again. Pure.
class RestartPolicy {
 public:
  /// `worker`: its name, in front of its errors.
  RestartPolicy(RestartLimits limits, std::string worker) : limits_(limits), worker_(std::move(worker)) {}

  struct Decision {
    std::optional<Error> give_up{};  // set: never again, and why
    Seconds wait{0};                 // else: before the next start
  };

  Decision ended(const Error& error, const WorkerRun& run);

 private:
  Error exhausted(const std::string& what, int starts, Error error) const;

  RestartLimits limits_;
  std::string worker_;
  bool was_ever_ready_ = false;
  int failed_starts_ = 0;
  int without_work_ = 0;
  int short_runs_ = 0;
};

}  // namespace tutti
