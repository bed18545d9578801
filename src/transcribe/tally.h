#pragma once

#include "base/guarded.h"
#include "base/mutex.h"
#include "transcribe/events.h"

namespace tutti {

/// Passes a run's events on to its observer, one at a time, and adds them up. Thread-safe.
class Tally {
 public:
  Tally(RunObserver& observer, std::size_t files, std::size_t skipped);

  void ready(const std::string& device, const std::string& compute_type, Seconds load);
  void decoded(std::size_t index, const Recording& recording);
  void progress(std::size_t index, Seconds position, const std::vector<Segment>& fresh);
  void done(const FileOutcome& outcome, const Transcript& transcript);
  /// Fault::cancelled is an interruption, not a failure.
  void failed(std::size_t index, const Error& error);
  /// A file that the worker may have been at work on comes to no transcript, or to none that could be written.
  void left_unfinished();

  RunSummary summary() const;

 private:
  // The observer is called under its own lock: events must not overtake one another, and observers only print.
  Mutex reporting_;
  RunObserver& observer_ TUTTI_GUARDED_BY(reporting_);
  Guarded<RunSummary> summary_;
};

}  // namespace tutti
