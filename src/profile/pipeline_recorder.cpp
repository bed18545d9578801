#include "profile/pipeline_recorder.h"

#include <algorithm>
#include <utility>

#include "profile/machine_watch.h"
#include "profile/processor_watch.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"

namespace tutti {

PipelineRecorder::PipelineRecorder(std::string command, std::string unit, std::vector<StageFacts> stages)
    : stages_(std::move(stages)), recording_{.command = std::move(command), .unit = std::move(unit)} {}

int PipelineRecorder::threads_of(const std::string& stage, int usual) {
  const int threads = tuner_ ? tuner_->threads_of(stage, usual) : usual;
  for (StageFacts& facts : stages_)
    if (facts.name == stage) facts.threads = threads;
  return threads;
}

Result<void> PipelineRecorder::run(Pipeline& pipeline) {
  const ProcessorWatch processor;
  RunWatch watch;
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  if (tuner_) tuner_->watch(pipeline);
  auto ended = pipeline.run();
  if (tuner_) tuned_ = tuner_->stop();
  recording_.timeline = sampler.stop();
  recording_.cores = usable_cores();
  const PipelineReport report = pipeline.report();
  auto [times, ends, first_start] = measured();
  // A run that was stopped worked on items until then that it dropped.
  if (first_start && !ends.empty()) recording_.elapsed = *std::ranges::max_element(ends) - *first_start;
  for (std::size_t s = 0; s < std::min(stages_.size(), times.size()); ++s) {
    RecordedStage stage{.name = stages_[s].name,
                        .resource = stages_[s].resource,
                        .threads = stages_[s].threads,
                        .threads_flag = stages_[s].threads_flag,
                        .items = std::move(times[s])};
    const auto clocks = std::ranges::find(report.stages, stage.name, &StageReport::name);
    if (clocks != report.stages.end()) note_clocks(stage, *clocks);
    recording_.stages.push_back(std::move(stage));
  }
  processor.note(recording_);
  machine_ = watch.evidence();
  if (tuner_) recording_ = settled_part(std::move(recording_), ends, tuner_->history());
  return ended;
}

Result<std::string> PipelineRecorder::conclude() const {
  const std::string tuned = tuned_ ? tuning_sentence(*tuned_) : std::string();
  // Of a run that was stopped early, no item may have come to the last stage.
  if (recording_.stages.size() < stages_.size() || recording_.stages.back().items.empty()) return tuned;
  return tutti::conclude(recording_, machine_).map([&](const std::string& finding) {
    return tuned + (tuned.empty() || finding.empty() ? "" : "\n") + finding;
  });
}

}  // namespace tutti
