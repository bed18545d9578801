#include "transcribe/run.h"

#include <algorithm>

#include "flow/pipeline.h"
#include "transcribe/interrupt.h"
#include "transcribe/run_stages.h"
#include "transcribe/tally.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

/// Windows the worker knows at once: those it steps together, and a few that are encoded when one of them leaves. Few,
/// because an encoded window holds its keys and values.
int windows_in_flight(std::int32_t slots) {
  return slots + std::clamp(slots / 4, 2, 4);
}

/// Lets the stages begin with the worker's windows.
void open_for_work(Run& run, std::shared_ptr<const LoadedWorker> worker) {
  run.worker = std::move(worker);
  run.context.emplace(TranscriptionContext{
      .windows = {.engine = *run.worker->engine,
                  .tokenizer = run.worker->tokenizer,
                  .options = run.options.decoding,
                  .suppressed = run.worker->suppressed},
      .log_mel = run.worker->log_mel,
      .rules = run.worker->rules,
      .on_progress = run.on_progress,
      .model = {.frames_per_window = run.worker->frames_per_window, .n_text_ctx = run.worker->n_text_ctx},
      .way = {.vad = run.options.vad, .clips = run.options.long_form.clip_timestamps, .batched = run.options.batched}});
  run.ready.change([&](auto& ready) { ready = &*run.context; });
}

RunSummary summary_of(const Run& run, Clock::Instant started) {
  RunSummary summary = run.tally.summary();
  summary.elapsed = Clock::real().now() - started;
  summary.interrupted |= run.interrupt.raised() && summary.done + summary.failed + summary.skipped < summary.files;
  summary.worker_restarts = static_cast<std::size_t>(run.worker->engine->stats().restarts);
  return summary;
}

}  // namespace

Result<RunSummary> run_transcription(const std::vector<PlannedFile>& files, const RunOptions& options,
                                     RunObserver& observer, Interrupt& interrupt) {
  const auto started = Clock::real().now();
  const auto skipped =
      std::count_if(files.begin(), files.end(), [](const PlannedFile& file) { return file.already_done; });
  Tally tally(observer, files.size(), static_cast<std::size_t>(skipped));
  if (static_cast<std::size_t>(skipped) == files.size()) return tally.summary();

  Run run{.files = files,
          .options = options,
          .tally = tally,
          .interrupt = interrupt,
          .on_progress = [&tally](std::size_t index, Seconds position, const std::vector<Segment>& fresh) {
            tally.progress(index, position, fresh);
          }};
  Pipeline pipeline;
  build_stages(pipeline, run);
  pipeline.start();  // decoding goes on while the worker loads its model

  auto worker = start_worker(options, interrupt);
  if (!worker) {
    run.aborted = true;
    run.ready.change([](auto& ready) { ready = nullptr; });
    pipeline.stop();
    return tl::unexpected(worker.error());
  }
  WorkerHandle& engine = *(*worker)->engine;
  tally.ready((*worker)->device_name, (*worker)->compute_type, (*worker)->load);
  interrupt.on_abort([&run, &engine] {
    run.aborted = true;
    engine.stop(Seconds(0));
  });
  const int together = options.files_at_once > 0 ? options.files_at_once : windows_in_flight((*worker)->slots);
  open_for_work(run, *std::move(worker));
  if (auto set = pipeline.set_threads(kTranscribeStage, together); !set) return tl::unexpected(set.error());
  const auto joined = pipeline.join();
  interrupt.on_abort({});
  if (!joined && joined.error().fault != Fault::cancelled) return tl::unexpected(joined.error());
  return summary_of(run, started);
}

}  // namespace tutti
