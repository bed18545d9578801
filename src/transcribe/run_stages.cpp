#include "transcribe/run_stages.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/try.h"
#include "transcribe/prefetch.h"
#include "view/text.h"

namespace tutti {
namespace {

/// Decoded files that may wait on disk for the worker: enough that it never waits, few enough that a long list does not
/// fill the disk. Fewer where LookAhead has no memory for them.
constexpr std::size_t kDecodedAhead = 2;

/// Windows whose mel waits for a thread, a megabyte each: the encoder finds the next one ready.
constexpr std::size_t kPreparedAhead = 4;

/// Calls `fn` for a file and, where it fails, reports that before the pipeline drops the file.
template <class Fn>
auto reporting_failure(Run& run, std::size_t index, Fn fn) -> decltype(fn()) {
  const auto guarded = [&]() -> decltype(fn()) {
    try {
      return fn();
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception("file " + std::to_string(index)));
    }
  };
  auto result = guarded();
  if (!result) run.files.failed(index, result.error());
  return result;
}

/// The same from where the worker may be at work on the file: what it did for one that fails is counted nowhere.
template <class Fn>
auto reporting_work_failure(Run& run, std::size_t index, Fn fn) -> decltype(fn()) {
  auto result = reporting_failure(run, index, std::move(fn));
  if (!result) run.tally.left_unfinished();
  return result;
}

std::optional<Result<ClaimedFile>> take(Run& run) {
  auto file = run.files.next();
  if (!file) return std::nullopt;
  if (!run.stop.raised()) return std::move(*file);
  run.files.failed(file->index, {Fault::cancelled, "stopped"});
  return std::nullopt;
}

Result<DecodedFile> decode(Run& run, ClaimedFile file) {
  auto decoded = run.job.decode(std::move(file));
  if (decoded) run.tally.decoded(decoded->index, decoded->recording);
  return decoded;
}

/// Else an empty transcript would be the only sign of it.
void warn_where_nothing_was_requested(const FileOutcome& outcome) {
  if (outcome.requested > Seconds(0) || outcome.duration <= Seconds(0)) return;
  log(Level::warning, name_of_input(outcome.input) + ": lasts " + length_text(outcome.duration) +
                          ", and none of it is within " + field("clip_timestamps"));
}

/// An empty transcript counts as done, and users would not look into it.
void warn_where_nothing_was_spoken(const FileOutcome& outcome) {
  if (!outcome.without_speech || outcome.outputs.empty() || outcome.requested <= Seconds(0)) return;
  log(Level::warning, name_of_input(outcome.input) + ": no speech was found; its transcript is empty");
}

/// Only for a transcript that is written; every trial of a bench would log it again.
void warn_where_speech_was_cut(const FileOutcome& outcome) {
  if (outcome.forced_cuts == 0 || outcome.outputs.empty()) return;
  const std::string often = outcome.forced_cuts == 1 ? "once" : std::to_string(outcome.forced_cuts) + " times";
  log(Level::warning, name_of_input(outcome.input) + ": speech without a pause was cut " + often +
                          " to fit windows, and a word may be damaged there; without " + field("batched") +
                          " none is cut");
}

Result<void> write(Run& run, TranscribedFile file) {
  const auto started = Clock::real().now();
  warn_where_nothing_was_requested(file.outcome);
  if (auto published = run.sink.publish(file); !published) return published;
  warn_where_speech_was_cut(file.outcome);
  warn_where_nothing_was_spoken(file.outcome);
  file.outcome.spent.writing = Clock::real().now() - started;
  file.outcome.elapsed = Clock::real().now() - file.started;
  run.tally.done(file.outcome, file.transcript);
  return {};
}

/// The options of the stages that work on whole files ahead of the worker.
StageOptions options_of_files(const LookAhead& ahead) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return {.threads = std::min(cores, 4),
          .on_error = OnError::skip,
          .output = {.items = kDecodedAhead, .bytes = ahead.decoded}};
}

}  // namespace

void build_stages(Pipeline& pipeline, Run& run) {
  const LookAhead ahead = look_ahead();
  const StageOptions of_files = options_of_files(ahead);
  const auto size_of = [ahead](const auto& item) { return ahead.bytes_of(item); };
  auto claimed = pipeline.source("files", [&run] { return take(run); }, {.output = {.items = 1}});
  auto decoded = pipeline.map(
      kDecodeStage, std::move(claimed),
      [&run](ClaimedFile&& file) {
        return reporting_failure(run, file.index, [&] { return decode(run, std::move(file)); });
      },
      of_files, size_of);
  if (run.options.vad)
    decoded = pipeline.map(
        kSpeechStage, std::move(decoded),
        [&run](DecodedFile&& file) {
          const std::size_t index = file.index;
          return reporting_failure(run, index, [&] { return run.job.detect_speech(std::move(file)); });
        },
        of_files, size_of);
  auto prepared = pipeline.flat_map<Work>(
      kPrepareStage, std::move(decoded),
      [&run](DecodedFile&& file, const Emit<Work>& emit) {
        const std::size_t index = file.index;
        return reporting_work_failure(run, index, [&] { return run.job.prepare(std::move(file), emit); });
      },
      {.on_error = OnError::skip, .output = {.items = kPreparedAhead, .bytes = ahead.prepared}}, size_of);
  auto transcribed = pipeline.flat_map<TranscribedFile>(
      kTranscribeStage, std::move(prepared),
      [&run](Work&& work, const Emit<TranscribedFile>& emit) -> Result<void> {
        auto done = TRY(
            reporting_work_failure(run, decoded_of(work).index, [&] { return run.job.transcribe(std::move(work)); }));
        if (done) emit(std::move(*done));
        return {};
      },
      {.on_error = OnError::skip});
  pipeline.sink(kWriteStage, std::move(transcribed),
                [&run](TranscribedFile&& file) {
                  const std::size_t index = file.outcome.index;
                  return reporting_work_failure(run, index, [&] { return write(run, std::move(file)); });
                },
                {.on_error = OnError::skip});
}

}  // namespace tutti
