#include "train/report/training_recording.h"

#include <algorithm>
#include <chrono>
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

void TrainingRecording::note_time(const std::optional<FeedReport>& feed, const RingReport& ring) {
  sampled_ = elapsed_;
  std::vector<StageReport> stages = feed ? feed->stages.stages : std::vector<StageReport>();
  const auto add = [&](const char* name, Seconds busy, Seconds idle) {
    StageReport stage{.name = name};
    stage.times.busy = std::chrono::duration_cast<std::chrono::nanoseconds>(busy);
    stage.times.starved = std::chrono::duration_cast<std::chrono::nanoseconds>(std::max(Seconds(0), idle));
    stages.push_back(std::move(stage));
  };
  const Seconds batches = feed ? ring.transferring : ring.fetching + ring.transferring;
  add("batches", batches, elapsed_ - batches);
  stages.back().output = {.items = static_cast<std::size_t>(std::max(0, ring.ready)),
                          .limits = {.items = static_cast<std::size_t>(std::max(1, ring.depth))}};
  add(names_.step, elapsed_ - waited_, waited_);
  timeline_.sample(elapsed_.count(), steps_.size(), stages);
}

RunRecording TrainingRecording::recording(const std::optional<FeedReport>& feed, const RingReport& ring) const {
  RunRecording recording{
      .command = names_.command, .unit = names_.unit, .cores = usable_cores(), .elapsed = elapsed_, .timeline = timeline_.timeline()};
  const auto steps = static_cast<double>(std::max<std::size_t>(1, steps_.size()));
  const auto add = [&](RecordedStage stage, Seconds busy) {
    if (busy < kWorthAStage * elapsed_) return;
    stage.items.assign(steps_.size(), busy / steps);
    recording.stages.push_back(std::move(stage));
  };
  for (const StageReport& stage : feed ? feed->stages.stages : std::vector<StageReport>()) {
    RecordedStage recorded{
        .name = stage.name, .resource = resource_of(stage.name), .threads_flag = flag_of(stage.name)};
    note_clocks(recorded, stage);
    const auto live = std::ranges::find(threads_.stages, stage.name, &StageReport::name);
    if (live != threads_.stages.end()) recorded.threads = std::max(1, live->threads.all());
    add(std::move(recorded), stage.times.busy);
  }
  const Seconds batches = feed ? ring.transferring : ring.fetching + ring.transferring;
  add({.name = "batches", .busy = batches, .starved = std::max(Seconds(0), elapsed_ - batches)}, batches);
  if (!recording.stages.empty()) recording.stages.back().queue = static_cast<std::size_t>(std::max(1, ring.depth));
  RecordedStage step{.name = names_.step, .resource = StageResource::device, .starved = waited_, .items = steps_};
  for (const Seconds it : steps_) step.busy += it;
  recording.stages.push_back(std::move(step));
  return recording;
}

}  // namespace tutti
