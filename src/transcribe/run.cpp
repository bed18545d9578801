#include "transcribe/run.h"

#include <algorithm>

#include "flow/pipeline.h"
#include "hub/memory_plan.h"
#include "transcribe/file_list.h"
#include "transcribe/run_stages.h"
#include "transcribe/stop_signal.h"
#include "transcribe/tally.h"
#include "transcribe/worker_start/worker_start.h"

namespace tutti {
namespace {

RunSummary summary_of(const Run& run, const LoadedWorker& worker, Clock::Instant started) {
  RunSummary summary = run.tally.summary();
  summary.elapsed = Clock::real().now() - started;
  summary.interrupted |= run.stop.raised() && summary.done + summary.failed + summary.skipped < summary.files;
  summary.worker_restarts = static_cast<std::size_t>(worker.engine->restarts());
  return summary;
}

}  // namespace

Result<RunSummary> run_transcription(const std::vector<PlannedFile>& files, const RunOptions& options,
                                     RunObserver& observer, StopSignal& stop) {
  const auto started = Clock::real().now();
  const auto skipped = static_cast<std::size_t>(std::ranges::count_if(files, &PlannedFile::already_done));
  Tally tally(observer, files.size(), skipped);
  if (skipped == files.size()) return tally.summary();

  const OnProgressOfFile on_progress = [&tally](std::size_t index, Seconds position, const auto& fresh) {
    tally.progress(index, position, fresh);
  };
  std::shared_ptr<const LoadedWorker> loaded;
  std::optional<TranscriptionContext> context;  // of all files; these three outlive the pipeline
  FileList listed(files, options.writer, tally);
  Run run{.files = listed, .options = options, .tally = tally, .stop = stop};
  const NoAbortAfter forgotten(stop);  // goes after the pipeline, which an abort may still have to end
  Pipeline pipeline;
  build_stages(pipeline, run);
  pipeline.start();  // decoding goes on while the worker loads its model

  auto worker = start_worker(options, stop);
  if (!worker) {
    run.aborted = true;
    listed.serve(nullptr);
    pipeline.stop();
    return tl::unexpected(worker.error());
  }
  loaded = *std::move(worker);
  WorkerHandle& engine = *loaded->engine;
  tally.ready(loaded->device_name, loaded->compute_type, loaded->load);
  stop.on_abort([&run, &engine] {
    run.aborted = true;
    engine.stop(Seconds(0));
  });
  const int together = options.files_at_once > 0 ? options.files_at_once : windows_in_flight(loaded->slots);
  context.emplace(loaded->model.context(engine, options, on_progress));
  listed.serve(&*context);
  if (auto set = pipeline.set_threads(kTranscribeStage, together); !set) return tl::unexpected(set.error());
  const auto joined = pipeline.join();
  if (!joined && joined.error().fault != Fault::cancelled) return tl::unexpected(joined.error());
  return summary_of(run, *loaded, started);
}

}  // namespace tutti
