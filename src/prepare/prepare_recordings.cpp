#include "prepare/prepare_recordings.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/try.h"
#include "flow/failures.h"
#include "flow/pipeline.h"
#include "hub/memory_plan.h"
#include "prepare/preparation_recording.h"
#include "profile/pipeline_tuner.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "transcribe/pool/pooled_recording.h"
#include "transcribe/prefetch.h"
#include "transcribe/worker_stage.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char *kDecode = "decode", *kAlign = "align", *kWrite = "write";  // stages; writing is the caller's

/// A recording on its way. What is wrong with it travels with it, so that it is reported in the recordings' order.
template <class T>
struct Named {
  fs::path path{};
  Result<T> is;
};
using Known = Named<KnownRecording>;
using Prepared = Named<PreparedRecording>;

/// Windows that the worker is given at once: as many as its memory is planned for, or as the user wants.
int windows_for(const PrepareSetup& setup) {
  const int requested = setup.options.files_at_once;
  return requested > 0 ? requested : windows_in_flight(setup.device.slots);
}

/// What the stages share.
struct Shared {
  std::span<const PrepareInput> inputs;
  const PrepareSetup& setup;
  StopSignal& stop;
  std::size_t next = 0;
  PreparationThreads threads{};
  std::atomic<bool> aborted = false;
  const OnProgressOfFile no_progress = [](std::size_t, Seconds, const std::vector<Segment>&) {};
  PooledRecording windows{*setup.device.pool, {.id = 1}};  // all of them as one: their windows wait for each other
  const TranscriptionContext context =
      setup.device.model.context(windows.engine(), setup.options, no_progress, /*rationed=*/true);
  WorkerStage device{};
  Histogram writing{};

  /// What is under way ends at once.
  void abort() {
    aborted = true;
    setup.device.pool->stop(Seconds(0));
  }
};

/// `fn()`, unless nothing new shall begin. What it throws costs this recording alone.
template <class Fn>
auto begun(const Shared& shared, Fn fn) -> decltype(fn()) {
  if (shared.stop.raised()) return fail(Fault::cancelled, "stopped");
  try {
    return fn();
  } catch (...) {
    return tl::unexpected<Error>(error_of_exception("preparing"));
  }
}

std::optional<Result<PrepareInput>> next_input(Shared& shared) {
  if (shared.next == shared.inputs.size() || shared.stop.raised()) return std::nullopt;
  return Result<PrepareInput>(shared.inputs[shared.next++]);
}

Result<Known> decode(const Shared& shared, const PrepareInput& input) {
  auto known = begun(shared, [&] {
    return known_recording(input, shared.setup.texts, shared.setup.device.model.log_mel, shared.setup.rules.audio,
                           [&](Seconds) { return !shared.aborted; });
  });
  return Known{.path = input.path, .is = std::move(known)};
}

Result<Prepared> align(Shared& shared, Known known) {
  auto prepared = begun(shared, [&]() -> Result<PreparedRecording> {
    if (!known.is) return tl::unexpected(std::move(known.is.error()));
    auto done = prepare_recording(std::move(*known.is), shared.context, shared.setup.rules);
    shared.device.note(done ? done->spent : TimeSpent());
    return done ? std::move(done) : fail_in(known.path.string(), std::move(done.error()));
  });
  return Prepared{.path = std::move(known.path), .is = std::move(prepared)};
}

/// A recording that waits, or is aligned, is on disk with its samples: few are decoded ahead, and of those that are
/// done no more wait for an earlier one than are in work.
Reader<Prepared> build_stages(Pipeline& pipeline, Shared& shared) {
  constexpr std::size_t kDecodedAhead = 2;
  const LookAhead ahead = look_ahead();
  const int together = shared.threads.align;
  auto inputs = pipeline.source("recordings", [&shared] { return next_input(shared); }, {.output = {.items = 1}});
  auto known = pipeline.map(
      kDecode, std::move(inputs), [&shared](PrepareInput&& input) { return decode(shared, input); },
      {.threads = shared.threads.decode,
       .order = Order::input,
       .window = kDecodedAhead,
       .output = {.items = kDecodedAhead, .bytes = ahead.decoded}},
      [ahead](const Known& one) { return one.is ? ahead.bytes_of(one.is->recording) : 0; });
  return pipeline.map(kAlign, std::move(known), [&shared](Known&& one) { return align(shared, std::move(one)); },
                      {.threads = together,
                       .order = Order::input,
                       .window = static_cast<std::size_t>(together),
                       .output = {.items = 1}});
}

/// The threads that a run begins with where no earlier one has left others.
PreparationThreads usual_threads(const PrepareSetup& setup) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int together = windows_for(setup);
  return {.decode = std::min({cores, together, 4}), .align = together};
}

/// What is tuned: threads that decode, and recordings in work together where their number was left open. Of these there
/// are never fewer than usual, which the device computes together for little more than one.
TuningPlan tuning_of(const PrepareSetup& setup) {
  constexpr int kTimesAsMany = 2;
  const int usual = windows_for(setup);
  const bool is_open = setup.options.files_at_once == 0;
  TuningPlan plan = setup.tuning;
  plan.pipeline = "prepare whisper, " + setup.options.model.string() + ", " + setup.options.device + ", " +
                  setup.device.device_name + ", " + setup.device.compute_type;
  plan.stages = {{kDecode, StageResource::cpu, true},
                 {WorkerStage::kFeatures, StageResource::cpu},
                 {.name = kAlign,
                  .resource = StageResource::io,  // its threads wait for the worker
                  .is_open = is_open,
                  .least = usual,
                  .most = kTimesAsMany * usual},
                 {WorkerStage::kDevice, StageResource::device},
                 {kWrite, StageResource::io}};
  plan.most_threads = std::max(4, usable_cores()) * 3 + kTimesAsMany * usual;
  return plan;
}

/// What is measured beside the stages of the pipeline.
PipelineTuner::Complete completion_of(const Shared& shared) {
  return [&shared](PipelineReport& report) {
    shared.device.add_to(report, kAlign, 1);
    report.stages.push_back(measured_stage(kWrite, shared.writing.snapshot(), 1));
  };
}

/// Takes every recording until the last. The caller's error ends it.
Result<void> take_all(const Reader<Prepared>& prepared, Shared& shared, const OnPrepared& on_prepared,
                      PreparationRecording& recording) {
  while (const auto next = prepared.pop()) {
    const bool unfinished = !next->is && next->is.error().fault == Fault::cancelled && shared.stop.raised();
    if (unfinished) continue;  // those behind an unfinished one may be whole
    const auto start = Clock::real().now();
    if (auto taken = on_prepared(next->path, next->is); !taken) return taken;
    const Seconds writing = Clock::real().now() - start;
    shared.writing.record(writing.count());
    if (next->is) recording.note(next->is->spent, writing);
  }
  return {};
}

}  // namespace

Result<Preparation> prepare_recordings(std::span<const PrepareInput> inputs, const PrepareSetup& setup,
                                       StopSignal& stop, const OnPrepared& on_prepared) {
  Shared shared{.inputs = inputs, .setup = setup, .stop = stop};
  const NoAbortAfter forgotten(stop);  // goes after the pipeline, which an abort may still have to end
  PreparationRecording recording;
  Pipeline pipeline;
  PipelineTuner tuner(tuning_of(setup));
  const PreparationThreads usual = usual_threads(setup);
  shared.threads = {.decode = tuner.threads_of(kDecode, usual.decode), .align = tuner.threads_of(kAlign, usual.align)};
  const auto prepared = build_stages(pipeline, shared);
  stop.on_abort([&shared] { shared.abort(); });
  pipeline.start();
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  tuner.watch(pipeline, completion_of(shared));
  const auto taken = take_all(prepared, shared, on_prepared, recording);
  Preparation done{.tuning = tuner.stop()};
  if (!taken) {
    shared.abort();
    pipeline.stop();
    return tl::unexpected(taken.error());
  }
  auto timeline = sampler.stop();
  TRY(pipeline.join());
  recording.tuned(tuner.history());
  done.finding = TRY(recording.conclude(shared.threads, pipeline.report(), std::move(timeline)));
  return done;
}

}  // namespace tutti
