#include "transcribe/run.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "base/files.h"
#include "flow/pipeline.h"
#include "transcribe/file_transcription.h"
#include "transcribe/interrupt.h"
#include "transcribe/tally.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

/// Decoded files that may wait on disk for the worker: enough that it never waits, few enough that a long list does not
/// fill the disk.
constexpr std::size_t kDecodedAhead = 2;

struct Claimed {
  std::size_t index = 0;
  std::filesystem::path input;
};

/// What the stages of a run share.
struct Run {
  const std::vector<PlannedFile>& files;
  const RunOptions& options;
  Tally& tally;
  Interrupt& interrupt;
  std::atomic<bool> aborted{false};
  std::size_t next = 0;  // the source's own
  Guarded<std::optional<std::shared_ptr<const LoadedWorker>>>
      worker{};  // empty: still loading; null: there will be none
};

tl::unexpected<Error> stopped() {
  return fail(Fault::cancelled, "stopped");
}

/// Says what became of a failed file before the pipeline drops it.
template <class T>
Result<T> told(Run& run, std::size_t index, Result<T> result) {
  if (!result) run.tally.failed(index, result.error());
  return result;
}

std::optional<Result<Claimed>> claim(Run& run) {
  while (run.next < run.files.size() && run.files[run.next].already_done) ++run.next;
  if (run.next == run.files.size()) return std::nullopt;
  const std::size_t index = run.next++;
  if (run.interrupt.raised()) {
    run.tally.failed(index, stopped().value());
    return std::nullopt;
  }
  return Claimed{index, run.files[index].input};
}

Result<DecodedFile> decode(Run& run, Claimed file) {
  const auto started = Clock::real().now();
  auto recording = decode_recording(file.input, [&](Seconds) { return !run.aborted; });
  if (!recording) return tl::unexpected(recording.error());
  run.tally.decoded(file.index, recording->duration(), recording->losses());
  return DecodedFile{.index = file.index,
                     .input = std::move(file.input),
                     .started = started,
                     .decoding = Clock::real().now() - started,
                     .recording = std::move(*recording)};
}

Result<TranscribedFile> transcribe(Run& run, DecodedFile file) {
  if (run.interrupt.raised()) return stopped();
  const auto worker = run.worker.wait([](const auto& loaded) { return loaded.has_value(); },
                                      [](const auto& loaded) { return *loaded; });
  if (!worker) return stopped();
  const TranscriptionContext context{.engine = *worker->engine,
                                     .tokenizer = worker->tokenizer,
                                     .log_mel = worker->log_mel,
                                     .rules = worker->rules,
                                     .decoding = run.options.decoding,
                                     .frames_per_window = worker->frames_per_window,
                                     .n_text_ctx = worker->n_text_ctx};
  const std::size_t index = file.index;
  return transcribe_file(std::move(file), context, [&](Seconds position, const std::vector<Segment>& fresh) {
    run.tally.progress(index, position, fresh);
  });
}

Result<void> write(Run& run, TranscribedFile file) {
  const auto started = Clock::real().now();
  const PlannedFile& planned = run.files[file.outcome.index];
  for (const auto& output : planned.outputs) {
    const auto format = parse_formats(output.extension().string().substr(1)).value().front();
    const auto content = format_transcript(file.transcript, format, run.options.writer);
    if (!content) return tl::unexpected(content.error());
    if (auto written = write_file_atomically(output, *content); !written) return written;
  }
  file.outcome.outputs = planned.outputs;
  file.outcome.spent.writing = Clock::real().now() - started;
  file.outcome.elapsed = Clock::real().now() - file.started;
  run.tally.done(file.outcome, file.transcript);
  return {};
}

void build(Pipeline& pipeline, Run& run) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto claimed = pipeline.source("files", [&run] { return claim(run); }, {.output = {.items = 1}});
  auto decoded =
      pipeline.map("decode", std::move(claimed),
                   [&run](Claimed&& file) {
                     const std::size_t index = file.index;
                     return told(run, index, decode(run, std::move(file)));
                   },
                   {.threads = std::min(cores, 4), .on_error = OnError::skip, .output = {.items = kDecodedAhead}});
  auto transcribed = pipeline.map("transcribe", std::move(decoded),
                                  [&run](DecodedFile&& file) {
                                    const std::size_t index = file.index;
                                    return told(run, index, transcribe(run, std::move(file)));
                                  },
                                  {.on_error = OnError::skip});
  pipeline.sink("write", std::move(transcribed),
                [&run](TranscribedFile&& file) {
                  const std::size_t index = file.outcome.index;
                  return told(run, index, write(run, std::move(file)));
                },
                {.on_error = OnError::skip});
}

}  // namespace

Result<RunSummary> run_transcription(const std::vector<PlannedFile>& files, const RunOptions& options,
                                     RunObserver& observer, Interrupt& interrupt) {
  const auto started = Clock::real().now();
  const auto skipped =
      std::count_if(files.begin(), files.end(), [](const PlannedFile& file) { return file.already_done; });
  Tally tally(observer, files.size(), static_cast<std::size_t>(skipped));
  if (static_cast<std::size_t>(skipped) == files.size()) return tally.summary();

  Run run{.files = files, .options = options, .tally = tally, .interrupt = interrupt};
  Pipeline pipeline;
  build(pipeline, run);
  pipeline.start();  // decoding goes on while the worker loads its model

  auto worker = start_worker(options, interrupt);
  if (!worker) {
    run.aborted = true;
    run.worker.change([](auto& loaded) { loaded = nullptr; });
    pipeline.stop();
    return tl::unexpected(worker.error());
  }
  tally.ready((*worker)->device_name, (*worker)->compute_type, (*worker)->load);
  interrupt.on_abort([&run, engine = (*worker)->engine.get()] {
    run.aborted = true;
    engine->stop(Seconds(0));
  });
  const int together = options.files_at_once > 0 ? options.files_at_once : (*worker)->slots;
  run.worker.change([&](auto& loaded) { loaded = *worker; });
  if (auto set = pipeline.set_threads("transcribe", std::max(1, together)); !set) return tl::unexpected(set.error());
  const auto joined = pipeline.join();
  interrupt.on_abort({});
  if (!joined && joined.error().fault != Fault::cancelled) return tl::unexpected(joined.error());

  RunSummary summary = tally.summary();
  summary.elapsed = Clock::real().now() - started;
  summary.interrupted |= interrupt.raised() && summary.done + summary.failed + summary.skipped < summary.files;
  summary.worker_restarts = static_cast<std::size_t>((*worker)->engine->stats().restarts);
  return summary;
}

}  // namespace tutti
