#include "train/evaluation/recorded_batches.h"

namespace tutti {

/// The end of the set, and what failed, is no batch.
Result<std::optional<Batch>> RecordedBatches::next() {
  const auto requested = Clock::real().now();
  auto batch = feed_.next();
  if (!batch || !*batch) return batch;
  const auto given = Clock::real().now();
  if (last_) note(*last_, requested);
  // While the feed has its threads.
  if (recording_.steps() == 1) recording_.note_threads(feed_.report());
  last_ = {requested, given, (*batch)->size(), (*batch)->made_by};
  return batch;
}

void RecordedBatches::note(const Taken& batch, Clock::Instant ended) {
  recording_.note({.stepping = ended - batch.given,
                   .waited = batch.given - batch.requested,
                   .ended = ended,
                   .samples = batch.samples},
                  {.feed = batch.made_by});
  if (row_) {
    row_->slice("waits for its batch", batch.requested, batch.given);
    row_->slice("transcribe", batch.given, ended);
  }
  if (is_profiled_ && recording_.wants_time()) recording_.note_time(feed_.report(), {});
}

RunRecording RecordedBatches::end() {
  if (last_) note(*last_, Clock::real().now());
  RunRecording recorded = recording_.recording(feed_.report(), {});
  for (RecordedStage& stage : recorded.stages)
    stage.threads_flag.clear();  // evaluate's --threads is the decoder's, too
  return recorded;
}

}  // namespace tutti
