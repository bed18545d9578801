#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/recording.h"
#include "base/clock.h"
#include "base/error.h"
#include "metrics/event_trace.h"
#include "profile/machine_watch.h"

namespace tutti {

/// Times a run that does one phase after the other, as a command without a pipeline does. One thread.
class SerialRun {
 public:
  explicit SerialRun(const Clock& clock = Clock::real()) : clock_(&clock) {}

  /// Calls `work`, which is a part of that phase.
  template <class Fn>
  auto measure(std::string_view phase, Fn&& work) {
    watch();
    const auto start = clock_->now();
    auto done = std::forward<Fn>(work)();
    note(phase, start, clock_->now());
    return done;
  }
  /// A call of that phase which its caller has timed, by the same clock.
  void note(std::string_view phase, Clock::Instant start, Clock::Instant end);

  /// One sentence: the phase that takes longest, the share of the time that it costs, and what it would gain twice as
  /// fast. Nothing else is done meanwhile, so that follows from the times alone. Empty where the run was shorter than
  /// two seconds.
  std::string finding() const;

  /// As conclude(RunRecording) (recorded_run.h): where `tutti profile` wants a recording it is written, and else the
  /// finding is returned, with what other programs took before it. `unit`: what the phase that came most often does one
  /// of, "batches".
  Result<std::string> conclude(const std::string& command, const std::string& unit) const;

  /// A pipeline on one core, which likewise does one thing at a time. A phase that came less often than another has the
  /// same part of its time in every item; what was no phase is the stage "rest". Without stages where nothing was done.
  RunRecording recording(const std::string& command, const std::string& unit) const;

 private:
  void watch() {
    if (!watch_) watch_ = std::make_unique<RunWatch>();
  }

  const Clock* clock_;
  struct TimedPhase {
    std::string name;
    std::vector<Seconds> calls{};
    Seconds all{};
  };

  std::vector<TimedPhase> phases_{};
  std::unique_ptr<EventTrace::Row> row_ = EventTrace::row_of_process("phases");
  std::optional<Clock::Instant> start_{};
  Clock::Instant end_{};
  std::unique_ptr<RunWatch> watch_{};  // from the first phase on
};

}  // namespace tutti
