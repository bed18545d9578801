#include "transcribe/batch/batch_run.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <thread>

#include "base/log.h"
#include "base/periodic_thread.h"
#include "flow/pipeline.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "transcribe/batch/batch_history.h"
#include "transcribe/batch/batch_job_source.h"
#include "transcribe/batch/batch_status.h"
#include "transcribe/batch/batch_submitter.h"
#include "transcribe/batch/batch_tuning.h"
#include "transcribe/pool/pool_machine.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/prefetch.h"
#include "transcribe/run_recording.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kReapTick{250};
constexpr std::uint32_t kReapTicks = 40;       // ten seconds
constexpr std::chrono::seconds kLookEvery{1};  // at the driver's reports
/// A result waits for the disk a dozen times, so that one thread publishes some ten a second on a slow disk. Results
/// that wait together share its commits. Sixteen fast GPUs and short clips make a hundred a second and more.
constexpr int kWriters = 8;

/// What there is before a batch begins.
struct BatchParts {
  std::unique_ptr<JobStore> store{};
  std::vector<SweepReport::Stuck> stuck{};  // outputs of earlier runs that could not be put in place
  PoolPlan pool{};
};

/// A batch while it runs: its parts in the order in which they must go.
class Batch final : public BatchControl {
 public:
  Batch(std::span<const BatchJob> jobs, const BatchOptions& options, BatchParts parts, BatchObserver& observer,
        StopSignal& stop)
      : jobs_(jobs),
        options_(options),
        stop_(stop),
        time_(parts.pool.time),
        machine_(options),
        store_(std::move(parts.store)),
        pool_(DevicePool::start(std::move(parts.pool))),
        files_(options, *store_, *pool_, observer),
        submitter_(jobs, options, *store_, files_, std::move(parts.stuck), [&stop] { return stop.raised(); }),
        tuning_(options),
        recorder_(recording_file_ ? std::make_unique<RunRecorder>(tuning_, options.run.vad.has_value()) : nullptr),
        tally_(recorder_ ? static_cast<RunObserver&>(*recorder_) : tuning_, jobs.size(), 0),
        run_{.files = files_, .options = options.run, .tally = tally_, .stop = stop} {
    files_.set_progress(on_progress_);
  }

  Result<BatchReport> go(const std::function<void(BatchControl*)>& with_control) {
    const auto started = submitter_.begin();
    if (!started) return tl::unexpected(started.error());
    const PeriodicThread renewing(kRenewEvery, [this] { files_.leases().renew(); });
    const PeriodicThread reaping(kReapTick, [this] { reap(); });
    watch();
    const PeriodicThread watching(kLookEvery, [this] { watch(); });
    with_control(this);
    auto worked = work();
    with_control(nullptr);
    stop_.on_raise({});
    stop_.on_abort({});
    pool_->stop(Seconds(0));
    files_.release("the run ended");
    record_news(*pool_, *store_, *started);
    auto report = reported(*started);
    if (!worked && report.done_now == 0) return tl::unexpected(worked.error());
    if (!worked) report.ended_early = worked.error().text();
    return report;
  }

  FleetStatus status(const PoolView* at) override {
    return fleet_status(options_, files_.snapshot(), at ? *at : pool_->view(), machine_);
  }
  bool drain(const std::string& device) override {
    if (!device.empty()) return pool_->drain(device_id(options_.devices, device));
    files_.queue().pause();
    return true;
  }
  bool resume(const std::string& device) override {
    if (!device.empty()) return pool_->resume(device_id(options_.devices, device));
    return files_.queue().resume();
  }
  Result<void> cancel(std::int64_t job) override { return files_.leases().cancel(job); }

 private:
  /// A process that is killed as this one begins is gone a moment later: what it held is looked at again soon, then
  /// every ten seconds.
  void reap() {
    ++reap_tick_;
    const bool is_soon = reap_tick_ < kReapTicks && std::has_single_bit(reap_tick_);
    if (is_soon || reap_tick_ % kReapTicks == 0) files_.leases().reap();
  }

  /// Reports the machine's state to the pool, and the device events to the store.
  void watch() {
    machine_.report_gpus(*pool_);
    machine_.look_at_cores();
    const auto shortage = machine_.shortage();
    if (shortage && !held_back_) log(Level::warning, *shortage);
    held_back_ = shortage.has_value();
    pool_->host_short(shortage);
    files_.queue().hold_back(held_back_);
    record_news(*pool_, *store_, submitter_.run());
  }

  /// Cancels the reading of recordings.
  void abort() {
    run_.aborted = true;
    files_.abort();
  }

  /// More threads for the audio where the devices turn out to be faster than those can feed.
  void follow_speeds(Pipeline& pipeline) {
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

  /// Until all is done or over; the error names why no device is left.
  Result<void> work() {
    stop_.on_raise([this] { files_.queue().stop_taking(); });
    stop_.on_abort([this] {
      abort();
      pool_->stop(Seconds(0));
    });
    Pipeline pipeline;
    build_stages(pipeline, run_);
    if (auto set = pipeline.set_threads(kTranscribeStage, threads_of(options_)); !set) return set;
    if (auto set = pipeline.set_threads(kWriteStage, kWriters); !set) return set;
    pipeline.start();
    if (auto set = tuning_.watch(pipeline); !set) return set;
    const PeriodicThread following(kLookEvery, [&] { follow_speeds(pipeline); });
    Result<void> submitted;
    std::jthread submitting([&] {
      submitted = submitter_.submit();
      if (!submitted) files_.queue().stop_taking();
      if (!submitted) files_.queue().all_added();
    });
    const auto served = serve();
    if (!served) {
      abort();
      files_.queue().stop_taking();
      files_.serve(nullptr);
    }
    const PipelineReport begun = pipeline.report();
    TimelineSampler sampler([&pipeline] { return pipeline.report(); });
    const auto joined = pipeline.join();
    tuned_ = tuning_.stop();
    submitting.join();
    if (auto recorded = record(begun, pipeline.report(), sampler.stop()); !recorded) return recorded;
    if (!submitted) return submitted;
    if (!served && served.error().fault != Fault::cancelled) return served;
    if (!joined && joined.error().fault != Fault::cancelled) return joined;
    const auto over = pool_->over();
    if (over && over->fault != Fault::cancelled) return tl::unexpected<Error>(*over);
    return {};
  }

  /// For `tutti profile`. Devices are alike to it: each works on one recording at a time.
  Result<void> record(const PipelineReport& begun, const PipelineReport& ended, RunTimeline timeline) {
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

  Result<void> serve() {
    const auto ready = pool_->ready();
    if (!ready) return tl::unexpected(ready.error());
    machine_.report_gpus(*pool_);  // before the first window is placed
    auto model = load_model_context(options_.run, *ready);
    if (!model) return tl::unexpected(model.error());
    model_.emplace(std::move(*model));
    if (recorder_) recorder_->on_ready("", "", Seconds(0));
    files_.serve(&*model_);
    return {};
  }

  BatchReport reported(RunId run) {
    RunSnapshot snapshot = files_.snapshot();
    BatchDone& done = snapshot.done;
    BatchReport report{.counts = snapshot.counts,
                       .before = snapshot.before,
                       .done_now = done.recordings,
                       .without_speech = done.without_speech,
                       .copied = done.copied,
                       .started = started_,
                       .ended = std::chrono::system_clock::now(),
                       .time = time_,
                       .audio = done.requested,
                       .transcribed = std::move(done.transcribed),
                       .has_retried = done.has_retried,
                       .shared_files = options_.run.batched,
                       .policy = options_.policy,
                       .pool = pool_->view(),
                       .energy_joules = machine_.energy(),
                       .device_joules = machine_.energy_by_device(),
                       .summary = tally_.summary(),
                       .interrupted = stop_.raised()};
    report.summary.tuning = tuned_;
    report.elapsed = report.pool.elapsed;
    for (std::size_t i = 0; i < options_.devices.size(); ++i)
      if (options_.devices[i].device.kind == ResolvedDevice::Kind::emulated)
        report.pool.devices[i].rated = options_.devices[i].device.card.speed;
    add_assets(report, *store_, files_.entries());
    end_in_store(report, options_, *store_, run);
    return report;
  }

  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::span<const BatchJob> jobs_;
  const BatchOptions& options_;
  StopSignal& stop_;
  const double time_;
  PoolMachine machine_;
  bool held_back_ = false;        // for want of memory; the watching thread's
  std::uint32_t reap_tick_ = 0;   // the reaping thread's
  AudioThreads audio_threads_{};  // the following thread's
  std::unique_ptr<JobStore> store_;
  std::optional<ModelContext> model_{};
  OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const std::vector<Segment>&) {
    files_.reached(index, position);
  };
  std::unique_ptr<DevicePool> pool_;
  BatchJobSource files_;
  BatchSubmitter submitter_;
  BatchTuning tuning_;
  std::optional<TuningResult> tuned_{};
  /// It keeps what each recording took until the run's end: only where that is wanted.
  const std::optional<std::filesystem::path> recording_file_ = recording_wanted();
  const std::unique_ptr<RunRecorder> recorder_;
  Tally tally_;
  Run run_;
};

}  // namespace

Result<BatchReport> run_batch(std::span<const BatchJob> jobs, const BatchOptions& options, BatchObserver& observer,
                              StopSignal& stop, const std::function<void(BatchControl*)>& with_control) {
  auto store = open_store({.url = options.state});
  if (!store) return tl::unexpected(store.error());
  const std::filesystem::path staging[] = {options.staging, options.kept};
  auto swept = sweep_outputs(**store, staging, options.existing);
  if (!swept) return tl::unexpected(swept.error());
  for (const auto& stuck : swept->stuck) log(Level::warning, stuck.why.text());
  for (const auto& kept : swept->kept) log(Level::warning, kept_text(kept));
  auto pool = plan_pool(options, **store);
  if (!pool) return tl::unexpected(pool.error());
  BatchParts parts{std::move(*store), std::move(swept->stuck), std::move(*pool)};
  auto report = Batch(jobs, options, std::move(parts), observer, stop).go(with_control);
  for (const auto& folder : staging) leave_staging(folder);
  return report;
}

}  // namespace tutti
