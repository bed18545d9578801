#include "transcribe/batch/job_run.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "base/periodic_thread.h"
#include "base/try.h"
#include "flow/pipeline.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "transcribe/batch/batch_history.h"
#include "transcribe/batch/batch_status.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/tally.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLookEvery{1};  // at the driver's reports
constexpr int kLooksAReport = 5;
static_assert(3 * kLooksAReport * kLookEvery < kLostAfter);
/// A result waits for the disk a dozen times, so that one thread publishes some ten a second on a slow disk. Results
/// that wait together share its commits. Sixteen fast GPUs and short clips make a hundred a second and more.
constexpr int kWriters = 8;

}  // namespace

JobRun::JobRun(const JobRunOptions& options, PoolPlan plan, RunHistory& history, StopSignal& stop)
    : options_(options),
      history_(history),
      stop_(stop),
      time_(plan.time),
      machine_(options),
      pool_(DevicePool::start(std::move(plan))),
      tuning_(options),
      recorder_(recording_file_ ? std::make_unique<RunRecorder>(tuning_, options.run.vad.has_value()) : nullptr) {}

Result<RunId> JobRun::begin() {
  auto run = history_.begin_run({.command = options_.command,
                                 .batch = options_.batch,
                                 .model = options_.run.model_name(),
                                 .compute_type = options_.run.compute_type,
                                 .runner = host_name() + "." + std::to_string(::getpid())});
  if (run) id_ = *run;
  return run;
}

FleetStatus JobRun::status(const RunSnapshot& snapshot, const PoolView* at) {
  return fleet_status(options_, snapshot, at ? *at : pool_->view(), machine_);
}

/// For those who look at the runs of a store. What it does not record now, it will.
void JobRun::report(const RunSnapshot& snapshot) {
  FleetStatus now = status(snapshot, nullptr);
  now.in_work.clear();  // the store knows them
  now.failures.clear();
  (void)history_.report_run(id_, fleet_status_json(now));
}

/// Reports the machine's state to the pool, and the device events and the run's to the history.
void JobRun::watch(JobSupply& supply) {
  machine_.report_gpus(*pool_);
  machine_.look_at_cores();
  const auto shortage = machine_.shortage();
  if (shortage && !held_back_) log(Level::warning, *shortage);
  held_back_ = shortage.has_value();
  pool_->host_short(shortage);
  supply.hold_back(held_back_);
  record_news(*pool_, history_, id_);
  if (looks_++ % kLooksAReport == 0) report(supply.snapshot());
}

/// More threads for the audio where the devices turn out to be faster than those can feed.
void JobRun::follow_speeds(Pipeline& pipeline) {
  if (tuning_.has_decided()) return;
  double speed = 0;
  for (const auto& device : pool_->view().devices) speed += device.speed;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const AudioThreads wanted = audio_threads(cores, speed / time_).at_least(audio_threads_);
  if (wanted == audio_threads_) return;
  audio_threads_ = wanted;
  const auto set = set_audio_threads(pipeline, wanted, options_.run.vad.has_value());
  if (!set) log(Level::warning, set.error().text());
}

Result<void> JobRun::serve(JobSupply& supply) {
  const auto ready = TRY(pool_->ready());
  machine_.report_gpus(*pool_);  // before the first window is placed
  auto model = TRY(load_model_context(options_.run, ready));
  model_.emplace(std::move(model));
  if (recorder_) recorder_->on_ready("", "", Seconds(0));
  supply.serve(&*model_);
  return {};
}

Result<void> JobRun::work(JobSupply& supply, std::size_t jobs) {
  watch(supply);
  const PeriodicThread watching(kLookEvery, [&] { watch(supply); });
  Tally tally(recorder_ ? static_cast<RunObserver&>(*recorder_) : tuning_, jobs, 0);
  Run run{.files = supply.source(), .sink = supply.sink(), .options = options_.run, .tally = tally, .stop = stop_};
  auto worked = run_pipeline(supply, run);
  stop_.on_raise({});
  stop_.on_abort({});
  summary_ = tally.summary();
  return worked;
}

Result<void> JobRun::run_pipeline(JobSupply& supply, Run& run) {
  const auto abort = [&] {
    run.aborted = true;  // cancels the decoding of recordings
    supply.abort();
  };
  stop_.on_raise([&] { supply.stop_taking(); });
  stop_.on_abort([this, abort] {
    abort();
    pool_->stop(Seconds(0));
  });
  const NoAbortAfter forgotten(stop_);  // goes after the pipeline, which an abort may still have to end
  Pipeline pipeline;
  build_stages(pipeline, run);
  if (auto set = pipeline.set_threads(kTranscribeStage, threads_of(options_)); !set) return set;
  if (auto set = pipeline.set_threads(kWriteStage, kWriters); !set) return set;
  pipeline.start();
  if (auto set = tuning_.watch(pipeline); !set) return set;
  const PeriodicThread following(kLookEvery, [&] { follow_speeds(pipeline); });
  const auto served = serve(supply);
  if (!served) {
    abort();
    supply.stop_taking();
    supply.serve(nullptr);
  }
  const PipelineReport begun = pipeline.report();
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  const auto joined = pipeline.join();
  tuned_ = tuning_.stop();
  if (auto recorded = record(begun, pipeline.report(), sampler.stop()); !recorded) return recorded;
  if (!served && served.error().fault != Fault::cancelled) return served;
  if (!joined && joined.error().fault != Fault::cancelled) return joined;
  const auto over = pool_->over();
  if (over && over->fault != Fault::cancelled) return tl::unexpected<Error>(*over);
  return {};
}

/// For `tutti profile`. Devices are alike to it: each works on one recording at a time.
Result<void> JobRun::record(const PipelineReport& begun, const PipelineReport& ended, RunTimeline timeline) {
  if (!recorder_) return {};
  const int devices = std::max(1, static_cast<int>(options_.devices.size()));
  RunRecording recording = recorder_->recording(begun, ended, devices);
  recording.command = "batch";
  recording.timeline = std::move(timeline);
  for (RecordedStage& stage : recording.stages) {
    if (stage.name != kTranscribeStage) continue;
    stage.threads_flag.clear();
    if (devices > 1) stage.resource = StageResource::io;  // a device for each thread
  }
  return write_recording(settled_part(std::move(recording), recorder_->ends(), tuning_.history()), *recording_file_);
}

BatchReport JobRun::end(const RunSnapshot& snapshot) {
  record_news(*pool_, history_, id_);
  report(snapshot);
  const BatchDone& done = snapshot.done;
  BatchReport report{.counts = snapshot.counts,
                     .before = snapshot.before,
                     .done_now = done.recordings,
                     .without_speech = done.without_speech,
                     .replacements = done.replacements,
                     .copied = done.copied,
                     .started = started_,
                     .ended = std::chrono::system_clock::now(),
                     .time = time_,
                     .audio = done.requested,
                     .transcribed = done.transcribed,
                     .has_retried = done.has_retried,
                     .shared_files = options_.run.batched,
                     .policy = options_.policy,
                     .engine = options_.run.engine ? options_.run.engine->name : "",
                     .pool = pool_->view(),
                     .energy_joules = machine_.energy(),
                     .device_joules = machine_.energy_by_device(),
                     .summary = summary_,
                     .interrupted = stop_.raised()};
  report.summary.tuning = tuned_;
  report.elapsed = report.pool.elapsed;
  for (std::size_t i = 0; i < options_.devices.size(); ++i)
    if (options_.devices[i].device.kind == ResolvedDevice::Kind::emulated)
      report.pool.devices[i].rated = options_.devices[i].device.card.speed;
  end_in_store(report, options_, history_, id_);
  return report;
}

}  // namespace tutti
