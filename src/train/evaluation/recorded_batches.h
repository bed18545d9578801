#pragma once

#include <optional>

#include "base/clock.h"
#include "metrics/event_trace.h"
#include "profile/recording_file.h"
#include "public/tutti/feed.h"
#include "train/report/training_recording.h"

namespace tutti {

/// Takes the batches of a feed for an evaluation, and notes when, with what the feed did for each: what is between two
/// of them is the decoder's time.
/// Where `tutti profile` wants a recording it keeps a timeline, too. One thread.
class RecordedBatches {
 public:
  /// `feed` outlives it.
  explicit RecordedBatches(Feed& feed) : feed_(feed) {}

  Result<std::optional<Batch>> next();
  /// The recording of the evaluation, which ends now. To be called once.
  RunRecording end();

 private:
  struct Taken {
    Clock::Instant requested{};
    Clock::Instant given{};
    std::int64_t samples = 0;
    StageWork made_by{};
  };
  void note(const Taken& batch, Clock::Instant ended);

  Feed& feed_;
  std::optional<Taken> last_{};
  const std::unique_ptr<EventTrace::Row> row_ = EventTrace::row_of_process("evaluation");
  const bool is_profiled_ = recording_wanted().has_value();
  TrainingRecording recording_{{.command = "evaluate", .unit = "batches", .step = "transcribe"}};
};

}  // namespace tutti
