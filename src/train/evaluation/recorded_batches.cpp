#include "train/evaluation/recorded_batches.h"

namespace tutti {

/// The end of the set, and what failed, is no batch.
Result<std::optional<Batch>> RecordedBatches::next() {
  const auto requested = Clock::real().now();
  auto batch = feed_.next();
  if (!batch || !*batch) return batch;
  taken_.push_back({requested, Clock::real().now()});
  if (taken_.size() == 2) at_work_ = feed_.report();
  return batch;
}

RunRecording RecordedBatches::end() const {
  TrainingRecording recording({.command = "evaluate", .unit = "batches", .step = "decode"});
  const auto now = Clock::real().now();
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const auto ended = i + 1 < taken_.size() ? taken_[i + 1].requested : now;
    recording.note(ended - taken_[i].given, taken_[i].given - taken_[i].requested);
  }
  if (taken_.size() > 1) recording.note_threads(at_work_);
  RunRecording recorded = recording.recording(feed_.report(), {.depth = 1});
  for (RecordedStage& stage : recorded.stages)
    stage.threads_flag.clear();  // evaluate's --threads is the decoder's, too
  return recorded;
}

}  // namespace tutti
