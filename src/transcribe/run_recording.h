#pragma once

#include <optional>
#include <vector>

#include "advise/recording.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "flow/report.h"
#include "transcribe/events.h"

namespace tutti {

/// Passes a run's events on, and collects what each file took in each stage.
class RunRecorder final : public RunObserver {
 public:
  /// `detects_speech`: the run detects speech. `observer` outlives the recorder.
  RunRecorder(RunObserver& observer, bool detects_speech) : observer_(observer), detects_speech_(detects_speech) {}

  void on_ready(const std::string& device, const std::string& compute_type, Seconds load) override;
  void on_decoded(std::size_t index, const Recording& recording) override { observer_.on_decoded(index, recording); }
  void on_progress(std::size_t index, Seconds position, const std::vector<Segment>& fresh) override {
    observer_.on_progress(index, position, fresh);
  }
  void on_done(const FileOutcome& outcome, const Transcript& transcript) override;
  void on_failed(std::size_t index, const Error& error) override { observer_.on_failed(index, error); }

  /// When each file was done, in the order of a recording's items.
  std::vector<Clock::Instant> ends() const {
    return state_.with([](const State& now) { return now.ends; });
  }

  /// The run so far, from the moment at which the worker was ready. `begun`: a report of its pipeline from when all
  /// threads were there; `ended`: the last one.
  /// `at_once`: files that were transcribed together.
  RunRecording recording(const PipelineReport& begun, const PipelineReport& ended, int at_once) const;

 private:
  struct State {
    std::optional<Clock::Instant> ready{};
    std::vector<TimeSpent> files{};
    std::vector<double> lengths{};       // of their audio
    std::vector<Clock::Instant> ends{};  // of each of them
  };

  RunObserver& observer_;
  bool detects_speech_;
  Guarded<State> state_{};
};

}  // namespace tutti
