#include "transcribe/run_recording.h"

#include <algorithm>
#include <string_view>

#include "base/field_names.h"
#include "profile/recording_file.h"
#include "transcribe/run_stages.h"

namespace tutti {
namespace {

const StageReport* report_of(const PipelineReport& report, std::string_view stage) {
  const auto found = std::ranges::find(report.stages, stage, &StageReport::name);
  return found == report.stages.end() ? nullptr : &*found;
}

}  // namespace

void RunRecorder::on_ready(const std::string& device, const std::string& compute_type, Seconds load) {
  state_.with([](State& state) { state.ready = Clock::real().now(); });
  observer_.on_ready(device, compute_type, load);
}

void RunRecorder::on_done(const FileOutcome& outcome, const Transcript& transcript) {
  state_.with([&](State& state) {
    state.ends.push_back(Clock::real().now());
    state.files.push_back(outcome.spent);
    state.lengths.push_back(outcome.duration.count());
  });
  observer_.on_done(outcome, transcript);
}

RunRecording RunRecorder::recording(const PipelineReport& begun, const PipelineReport& ended, int at_once) const {
  const State state = state_.with([](const State& now) { return now; });
  RunRecording recording{.command = "transcribe", .cores = usable_cores(), .lengths = state.lengths};
  if (state.ready && !state.ends.empty()) recording.elapsed = state.ends.back() - *state.ready;
  const auto add = [&](const char* stage, StageResource resource, const std::string& flag, auto time_of) {
    RecordedStage recorded{.name = stage, .resource = resource, .threads_flag = flag};
    if (const StageReport* live = report_of(begun, stage)) recorded.threads = std::max(1, live->threads.all());
    if (const StageReport* clocks = report_of(ended, stage)) note_clocks(recorded, *clocks);
    for (const TimeSpent& file : state.files) recorded.items.push_back(time_of(file));
    recording.stages.push_back(std::move(recorded));
  };
  add(kDecodeStage, StageResource::cpu, "", [](const TimeSpent& spent) { return spent.audio; });
  if (detects_speech_)
    add(kSpeechStage, StageResource::cpu, "", [](const TimeSpent& spent) { return spent.listening; });
  add(kPrepareStage, StageResource::cpu, "", [](const TimeSpent& spent) { return spent.features; });
  add(kTranscribeStage, StageResource::device, field("files_at_once"),
      [](const TimeSpent& spent) { return spent.worker(); });
  recording.stages.back().threads = std::max(1, at_once);
  add(kWriteStage, StageResource::io, "", [](const TimeSpent& spent) { return spent.writing; });
  return recording;
}

}  // namespace tutti
