#include "cli/prepare/prepare_recordings.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cli/prepare/preparation_recording.h"
#include "flow/failures.h"
#include "flow/pipeline.h"
#include "hub/memory_plan.h"
#include "profile/timeline.h"
#include "transcribe/prefetch.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A recording on its way. What is wrong with it travels with it, so that it is reported in the recordings' order.
template <class T>
struct Named {
  fs::path path{};
  Result<T> is;
};
using Known = Named<KnownRecording>;
using Prepared = Named<PreparedRecording>;

/// What the stages share.
struct Shared {
  std::span<const PrepareInput> inputs;
  const PrepareSetup& setup;
  StopSignal& stop;
  std::size_t next = 0;
  PreparationThreads threads{};
  std::atomic<bool> aborted = false;
  const OnProgressOfFile no_progress = [](std::size_t, Seconds, const std::vector<Segment>&) {};
  const TranscriptionContext context = setup.worker.model.context(*setup.worker.engine, setup.options, no_progress);

  /// What is under way ends at once.
  void abort() {
    aborted = true;
    setup.worker.engine->stop(Seconds(0));
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
    return known_recording(input, shared.setup.texts, shared.setup.worker.model.log_mel, shared.setup.rules.audio,
                           [&](Seconds) { return !shared.aborted; });
  });
  return Known{.path = input.path, .is = std::move(known)};
}

Result<Prepared> align(const Shared& shared, Known known) {
  auto prepared = begun(shared, [&]() -> Result<PreparedRecording> {
    if (!known.is) return tl::unexpected(std::move(known.is.error()));
    auto done = prepare_recording(std::move(*known.is), shared.context, shared.setup.rules);
    return done ? std::move(done) : fail_in(known.path.string(), std::move(done.error()));
  });
  return Prepared{.path = std::move(known.path), .is = std::move(prepared)};
}

/// A recording that waits, or is aligned, is on disk with its samples: few are decoded ahead, and of those that are
/// done no more wait for an earlier one than are in work.
Reader<Prepared> build_stages(Pipeline& pipeline, Shared& shared) {
  constexpr std::size_t kDecodedAhead = 2;
  const LookAhead ahead = look_ahead();
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int requested = shared.setup.options.files_at_once;
  const int together = requested > 0 ? requested : windows_in_flight(shared.setup.worker.slots);
  shared.threads = {.decode = std::min({cores, together, 4}), .align = together};
  auto inputs = pipeline.source("recordings", [&shared] { return next_input(shared); }, {.output = {.items = 1}});
  auto known = pipeline.map(
      "decode", std::move(inputs), [&shared](PrepareInput&& input) { return decode(shared, input); },
      {.threads = shared.threads.decode,
       .order = Order::input,
       .window = kDecodedAhead,
       .output = {.items = kDecodedAhead, .bytes = ahead.decoded}},
      [ahead](const Known& one) { return one.is ? ahead.bytes_of(one.is->recording) : 0; });
  return pipeline.map("align", std::move(known), [&shared](Known&& one) { return align(shared, std::move(one)); },
                      {.threads = together,
                       .order = Order::input,
                       .window = static_cast<std::size_t>(together),
                       .output = {.items = 1}});
}

}  // namespace

Result<std::string> prepare_recordings(std::span<const PrepareInput> inputs, const PrepareSetup& setup,
                                       StopSignal& stop, const OnPrepared& on_prepared) {
  Shared shared{.inputs = inputs, .setup = setup, .stop = stop};
  const NoAbortAfter forgotten(stop);  // goes after the pipeline, which an abort may still have to end
  PreparationRecording recording;
  Pipeline pipeline;
  auto prepared = build_stages(pipeline, shared);
  stop.on_abort([&shared] { shared.abort(); });
  pipeline.start();
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  Result<void> taken{};
  while (taken) {
    const auto next = prepared.pop();
    if (!next) break;
    const bool unfinished = !next->is && next->is.error().fault == Fault::cancelled && stop.raised();
    if (unfinished) continue;  // those behind an unfinished one may be whole
    const auto start = Clock::real().now();
    taken = on_prepared(next->path, next->is);
    if (taken && next->is) recording.note(next->is->spent, Clock::real().now() - start);
  }
  if (!taken) {
    shared.abort();
    pipeline.stop();
    return tl::unexpected(taken.error());
  }
  auto timeline = sampler.stop();
  if (auto ended = pipeline.join(); !ended) return tl::unexpected(ended.error());
  return recording.conclude(shared.threads, pipeline.report(), std::move(timeline));
}

}  // namespace tutti
