#include "transcribe/run.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/guarded.h"
#include "base/try.h"
#include "flow/pipeline.h"
#include "hub/memory_plan.h"
#include "profile/machine_watch.h"
#include "profile/pipeline_tuner.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "transcribe/done_command.h"
#include "transcribe/output_plan.h"
#include "transcribe/pool/one_device.h"
#include "transcribe/pool/pooled_recording.h"
#include "transcribe/run_recording.h"
#include "transcribe/run_stages.h"
#include "transcribe/stop_signal.h"
#include "transcribe/tally.h"
#include "transcript/replace_text.h"

namespace tutti {
namespace {

/// The files of a command line, in its order.
class FileList final : public JobSource, public ResultSink {
 public:
  FileList(const std::vector<PlannedFile>& files, const TranscribeOptions& options, Tally& tally)
      : files_(files), ownership_(ownership_of(files)), options_(options), tally_(tally) {}

  /// The device is there, or (null) there will be none.
  void serve(std::shared_ptr<const LoadedDevice> device);
  /// Ends the command for a finished recording, too.
  void abort() { aborted_ = true; }

  std::optional<ClaimedFile> next() override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  Result<void> publish(TranscribedFile& file) override;
  void failed(std::size_t index, const Error& error) override { tally_.failed(index, error); }

 private:
  struct InWork {
    Seconds length{};
    std::unique_ptr<PooledRecording> pooled{};
    std::optional<TranscriptionContext> context{};
  };
  struct State {
    std::optional<std::shared_ptr<const LoadedDevice>> device{};  // none: still loading
    std::map<std::size_t, InWork> in_work{};                      // by index
  };

  const TranscriptionContext* begin_windows(State& state, std::size_t index) const;

  const std::vector<PlannedFile>& files_;
  const OutputOwnership ownership_;
  const TranscribeOptions& options_;
  Tally& tally_;
  const OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const auto& fresh) {
    tally_.progress(index, position, with_replacements(fresh, options_.replacements.get()));
  };
  std::size_t next_ = 0;
  std::atomic<bool> aborted_{false};
  Guarded<State> state_{};
};

void FileList::serve(std::shared_ptr<const LoadedDevice> device) {
  state_.change([&](State& state) { state.device = std::move(device); });
}

std::optional<ClaimedFile> FileList::next() {
  while (next_ < files_.size() && files_[next_].already_done) ++next_;
  if (next_ == files_.size()) return std::nullopt;
  const std::size_t index = next_++;
  return ClaimedFile{index, files_[index].input};
}

Result<void> FileList::on_audio_decoded(std::size_t index, Seconds length) {
  state_.with([&](State& state) { state.in_work[index].length = length; });
  return {};
}

const TranscriptionContext* FileList::context(std::size_t index) {
  return state_.wait([](const State& state) { return state.device.has_value(); },
                     [&](State& state) { return begin_windows(state, index); });
}

const TranscriptionContext* FileList::begin_windows(State& state, std::size_t index) const {
  if (!*state.device) return nullptr;
  const LoadedDevice& device = **state.device;
  InWork& file = state.in_work[index];
  if (file.context) return &*file.context;
  file.pooled = std::make_unique<PooledRecording>(*device.pool, PoolJob{.id = index, .audio = file.length});
  return &file.context.emplace(device.model.context(file.pooled->engine(), options_, on_progress_, /*rationed=*/true));
}

Result<void> FileList::publish(TranscribedFile& file) {
  const PlannedFile& planned = files_[file.outcome.index];
  for (const auto& output : planned.outputs) {
    const auto format = parse_formats(output.extension().string().substr(1)).value().front();
    const auto content = TRY(format_output(file, format, options_.writer));
    const auto replaced = TRY(ownership_.write(output, content));
    if (replaced) file.outcome.replaced.push_back(output);
  }
  file.outcome.outputs = planned.outputs;
  if (options_.on_done)
    options_.on_done->run(name_of_input(planned.input), planned.input, planned.outputs, [&] { return !aborted_; });
  state_.with([&](State& state) { state.in_work.erase(file.outcome.index); });
  return {};
}

RunSummary summary_of(const Run& run, const LoadedDevice& device, const DoneCommand* on_done, Clock::Instant started) {
  RunSummary summary = run.tally.summary();
  summary.elapsed = Clock::real().now() - started;
  if (on_done) summary.failed_commands = on_done->failures();
  summary.interrupted |= run.stop.raised() && summary.done + summary.failed + summary.skipped < summary.files;
  summary.worker_restarts = static_cast<std::size_t>(device.pool->view().devices.front().restarts);
  return summary;
}

/// What is tuned: the stages that make windows of files. No flag sets their threads.
TuningPlan tuning_of(TuningPlan plan, const RunOptions& options) {
  plan.pipeline = std::string("transcribe") + (options.batched ? " --batched" : "");
  plan.stages = {{kDecodeStage, StageResource::cpu, true}};
  if (options.vad) plan.stages.push_back({kSpeechStage, StageResource::cpu, true});
  plan.stages.push_back({kPrepareStage, StageResource::cpu, true});
  plan.stages.push_back({kTranscribeStage, StageResource::io});  // it waits for the worker, with all of its files
  plan.stages.push_back({kWriteStage, StageResource::io});
  plan.most_threads = std::max(4, usable_cores()) * 3;
  return plan;
}

}  // namespace

Result<RunSummary> run_transcription(const std::vector<PlannedFile>& files, const TranscribeOptions& options,
                                     RunObserver& observer, StopSignal& stop, TuningPlan tuning) {
  const auto started = Clock::real().now();
  const auto skipped = static_cast<std::size_t>(std::ranges::count_if(files, &PlannedFile::already_done));
  RunRecorder recorder(observer, options.vad.has_value());
  Tally tally(recorder, files.size(), skipped);
  if (skipped == files.size()) return tally.summary();

  FileList listed(files, options, tally);  // outlives the pipeline
  Run run{.files = listed, .sink = listed, .options = options, .tally = tally, .stop = stop};
  const NoAbortAfter forgotten(stop);  // goes after the pipeline, which an abort may still have to end
  Pipeline pipeline;
  build_stages(pipeline, run);
  pipeline.start();  // decoding goes on while the worker loads its model

  const auto loaded = load_device(options, stop);
  if (!loaded) {
    run.aborted = true;
    listed.serve(nullptr);
    pipeline.stop();
    return tl::unexpected(loaded.error());
  }
  const LoadedDevice& device = **loaded;
  tally.ready(device.device_name, device.compute_type, device.load);
  stop.on_abort([&run, &device, &listed] {
    run.aborted = true;
    listed.abort();
    device.pool->stop(Seconds(0));
  });
  const int together = options.files_at_once > 0 ? options.files_at_once : windows_in_flight(device.slots);
  listed.serve(*loaded);
  TRY(pipeline.set_threads(kTranscribeStage, together));
  PipelineTuner tuner(tuning_of(std::move(tuning), options));
  TRY(tuner.begin_as_known(pipeline));
  tuner.watch(pipeline);
  const PipelineReport begun = pipeline.report();
  RunWatch watch;
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  const auto joined = pipeline.join();
  const auto tuned = tuner.stop();
  if (!joined && joined.error().fault != Fault::cancelled) return tl::unexpected(joined.error());
  RunSummary summary = summary_of(run, device, options.on_done.get(), started);
  RunRecording recording = recorder.recording(begun, pipeline.report(), together);
  recording.timeline = sampler.stop();
  for (RecordedStage& stage : recording.stages)
    stage.on_processor = stage.name == kTranscribeStage && device.device_name == "CPU";
  summary.tuning = tuned;
  summary.finding =
      TRY(conclude(settled_part(std::move(recording), recorder.ends(), tuner.history()), watch.evidence()));
  return summary;
}

}  // namespace tutti
