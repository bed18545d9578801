#pragma once

#include <utility>
#include <vector>

#include "advise/recording.h"
#include "base/clock.h"
#include "base/error.h"
#include "flow/report.h"
#include "prepare/prepare_recording.h"
#include "profile/pipeline_tuner.h"
#include "transcribe/events.h"

namespace tutti {

/// How many threads the stages of a preparation have.
struct PreparationThreads {
  int decode = 1;  ///< reads and decodes recordings
  int align = 1;   ///< recordings in work together: computes features, and waits for the worker
};

/// What became of every recording that `tutti prepare whisper` took samples from, for `tutti profile`. One thread.
class PreparationRecording {
 public:
  /// A recording is in the corpus; `written`: what adding it took.
  void note(const TimeSpent& spent, Seconds written);

  /// Threads were chosen while it ran: what was done with the last of them is the recording.
  void tuned(ThreadHistory history) { history_ = std::move(history); }

  /// The sentence on what limited the preparation, or none where `tutti profile` takes its recording; empty where
  /// nothing was noted. `ended`: after the last recording; `timeline`: until then.
  Result<std::string> conclude(PreparationThreads threads, const PipelineReport& ended, RunTimeline timeline);

 private:
  std::vector<TimeSpent> spent_{};
  std::vector<Clock::Instant> ends_{};  // of each of them
  ThreadHistory history_{};             // of the threads that were chosen
};

}  // namespace tutti
