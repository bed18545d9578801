#include "prepare/preparation_recording.h"

#include <algorithm>
#include <utility>

#include "profile/recorded_run.h"
#include "profile/recording_file.h"

namespace tutti {

void PreparationRecording::note(const TimeSpent& spent, Seconds written) {
  spent_.push_back(spent);
  spent_.back().writing = written;
  ends_.push_back(Clock::real().now());
}

Result<std::string> PreparationRecording::conclude(PreparationThreads threads, const PipelineReport& ended,
                                                   RunTimeline timeline) {
  if (spent_.empty()) return std::string();
  RunRecording recording{.command = "prepare",
                         .unit = "recordings",
                         .cores = usable_cores(),
                         .elapsed = ended.elapsed,
                         .timeline = std::move(timeline)};
  // The device's time is the worker's own: what "align" waited for it, and for others at it, is left out.
  const auto add = [&](RecordedStage stage, Seconds TimeSpent::*time) {
    for (const TimeSpent& one : spent_) stage.items.push_back(one.*time);
    const auto clocks = std::ranges::find(ended.stages, stage.name, &StageReport::name);
    if (clocks != ended.stages.end()) note_clocks(stage, *clocks);
    recording.stages.push_back(std::move(stage));
  };
  add({.name = "decode", .threads = threads.decode}, &TimeSpent::audio);
  // By the threads that then wait for the worker.
  add({.name = "features", .threads = threads.align}, &TimeSpent::features);
  add({.name = "align", .resource = StageResource::device, .threads = threads.align, .threads_flag = "--files-at-once"},
      &TimeSpent::encoder);
  for (std::size_t i = 0; i < spent_.size(); ++i) recording.stages.back().items[i] += spent_[i].decoder;
  add({.name = "write", .resource = StageResource::io}, &TimeSpent::writing);
  recording = settled_part(std::move(recording), ends_, history_);
  recording.stages[1].threads = recording.stages[2].threads;  // features are computed by those that align
  return tutti::conclude(recording);
}

}  // namespace tutti
