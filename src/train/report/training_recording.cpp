#include "train/report/training_recording.h"

#include <algorithm>
#include <string_view>

#include "profile/recording_file.h"

namespace tutti {
namespace {

constexpr double kWorthAStage = 0.001;  // of the time of the steps

/// What sets a stage's threads: the computing ones have them together.
const char* flag_of(std::string_view stage) {
  if (stage == "read" || stage == "probe") return "--read-threads";
  if (stage == "decode" || stage == "resample" || stage == "augment" || stage == "features" || stage == "gather")
    return "--threads";
  return "";
}

StageResource resource_of(std::string_view stage) {
  return stage == "read" || stage == "probe" ? StageResource::io : StageResource::cpu;
}

}  // namespace

void TrainingRecording::note(Seconds stepping, Seconds waited) {
  elapsed_ += stepping;
  if (!steps_.empty()) {
    elapsed_ += waited;
    waited_ += waited;
  }
  steps_.push_back(stepping);
}

void TrainingRecording::note_threads(const FeedReport& feed) {
  threads_ = feed.stages;
  has_threads_ = true;
}

RunRecording TrainingRecording::recording(const FeedReport& feed, const RingReport& ring) const {
  RunRecording recording{.command = "train", .unit = "steps", .cores = usable_cores(), .elapsed = elapsed_};
  const auto steps = static_cast<double>(std::max<std::size_t>(1, steps_.size()));
  for (const StageReport& stage : feed.stages.stages) {
    const Seconds a_step = Seconds(stage.times.busy) / steps;
    if (a_step * steps < kWorthAStage * elapsed_) continue;
    RecordedStage recorded{.name = stage.name,
                           .resource = resource_of(stage.name),
                           .threads_flag = flag_of(stage.name),
                           .items = std::vector<Seconds>(steps_.size(), a_step)};
    note_clocks(recorded, stage);
    const auto live = std::ranges::find(threads_.stages, stage.name, &StageReport::name);
    if (live != threads_.stages.end()) recorded.threads = std::max(1, live->threads.all());
    recording.stages.push_back(std::move(recorded));
  }
  if (!recording.stages.empty()) recording.stages.back().queue = static_cast<std::size_t>(std::max(1, ring.depth));
  RecordedStage step{.name = "step", .resource = StageResource::device, .starved = waited_, .items = steps_};
  for (const Seconds it : steps_) step.busy += it;
  recording.stages.push_back(std::move(step));
  return recording;
}

}  // namespace tutti
