#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/live_tuner.h"
#include "advise/recording.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "base/units.h"
#include "flow/pipeline.h"
#include "profile/processor_watch.h"
#include "profile/tuning_store.h"

namespace tutti {

/// The threads that stages had over a run. Empty where none were set.
struct ThreadHistory {
  struct Change {
    Clock::Instant at{};
    ThreadSettings threads{};  ///< of all open stages from then on
  };
  ThreadSettings begun{};  ///< before the first change
  std::vector<Change> changes{};
};

/// Gives the open stages of a running pipeline the threads that suit them (LiveTuner), on a thread of its own, and
/// remembers them for the next run as soon as they have settled. Does nothing where no stage is open, and in a run with
/// a stage that is sped up: its threads wait for one another. One thread, but for what it does itself.
class PipelineTuner {
 public:
  explicit PipelineTuner(TuningPlan plan);
  PipelineTuner(const PipelineTuner&) = delete;
  PipelineTuner& operator=(const PipelineTuner&) = delete;

  /// The threads that a stage should begin with: those of an earlier run like this, else `usual`.
  int threads_of(std::string_view stage, int usual) const;

  /// Whether an earlier run like this has left threads to begin with.
  bool knows() const { return known_.has_value(); }
  /// Gives the stages of a pipeline those threads, where there are some.
  Result<void> begin_as_known(Pipeline& pipeline) const;

  /// Adds stages to a report that the pipeline does not have itself: a device that its threads wait for.
  using Complete = std::function<void(PipelineReport&)>;

  /// Begins to look at the pipeline, which must be there until `stop`, as all that `complete` uses.
  void watch(Pipeline& pipeline, Complete complete = {});

  /// Ends that. What it came to; none where nothing was measured.
  std::optional<TuningResult> stop();

  /// The threads that it set so far, and when.
  ThreadHistory history() const {
    return state_.with([](const State& it) { return it.history; });
  }

 private:
  struct State {
    LiveTuner tuner;
    ThreadHistory history{};
  };

  void look(Pipeline& pipeline, const Complete& complete);
  void note_change(const ThreadSettings& settings);
  LiveMachine machine_now(const PipelineReport& report) const;

  TuningPlan plan_;
  TuningKey key_{};
  std::optional<ThreadSettings> known_{};
  ProcessorWatch processor_{};
  Clock::Instant start_ = Clock::real().now();
  Guarded<State> state_;
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

/// Only what was begun and done with one setting of threads, which the stages then have: the last, or the one with the
/// most items a thread where the last has fewer than eight, or than two a thread. The rest of the items and of the time
/// becomes `settling`. `ends`: of each item, in the order of the recording's.
RunRecording settled_part(RunRecording recording, const std::vector<Clock::Instant>& ends,
                          const ThreadHistory& history);

/// "Threads were tuned: decode 1 -> 3, features 1 -> 2; 2.4 times as fast as before." Empty where nothing changed.
std::string tuning_sentence(const TuningResult& result);

/// As an object: threads (by stage), threads_before, items_per_s, items_per_s_before, rounds and settled.
nlohmann::ordered_json tuning_json(const TuningResult& result);

}  // namespace tutti
