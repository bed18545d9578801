#include "train/report/reporter.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/try.h"
#include "device/process_tree.h"
#include "profile/processor_watch.h"
#include "profile/recorded_run.h"
#include "train/report/epoch_report.h"
#include "train/report/load_track.h"
#include "train/report/loss_picture.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr Seconds kShortestEpoch{1};  // that shows how busy the device is

}  // namespace

Reporter::Reporter(ReporterOptions options, TrainingLog log, std::unique_ptr<BadSamples> bad)
    : options_(options),
      log_(std::move(log)),
      bad_(std::move(bad)),
      progress_(options.log_steps, options.most_time),
      load_(options.gpu),
      machine_(options.gpu),
      monitor_(options.gpu.has_value()),
      processed_(own_processor_time()) {}

Result<std::unique_ptr<Reporter>> Reporter::open(const ReporterOptions& options) {
  auto log = TRY(TrainingLog::open({.out = options.out,
                                    .last_step = options.last_step,
                                    .evaluation_due = options.evaluation_due,
                                    .log_steps = options.log_steps,
                                    .log_order = options.log_order}));
  // Every epoch meets them again; they are written once, and however many they are, it is the feed's limits that count.
  constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
  auto bad = TRY(BadSamples::open(options.out / "bad_samples.jsonl", {.count = kNoLimit, .share = 1}, kNoLimit));
  return std::unique_ptr<Reporter>(new Reporter(options, std::move(log), std::move(bad)));
}

void Reporter::write_line(const std::string& line) {
  progress_.end();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Reporter::stepped(const StepReport& step) {
  const auto snapshot = sampler_.latest();
  machine_.take(snapshot);
  load_.take(snapshot);
  const auto load = machine_.load();
  log_.stepped(step, load);
  progress_.stepped(step, machine_text(load));
  note(step);
  monitor(step, load);
  new_shapes_ += step.outcome.new_shapes;
  if (!step.ends_epoch) return;
  const auto new_shapes = std::exchange(new_shapes_, 0);
  write_line("epoch " + std::to_string(step.state.epoch + 1) + ": " + std::to_string(step.state.step) + " steps, " +
             length_text(Seconds(step.state.seconds)) + "; batches had " + std::to_string(step.outcome.shapes) +
             (step.outcome.shapes == 1 ? " shape, " : " shapes, ") +
             (new_shapes > 0 ? std::to_string(new_shapes) : "none") + " of them new");
  report_epoch();
  draw();
}

/// A step that ends now, and the wait before it.
void Reporter::trace(Seconds stepping, Seconds waited) {
  if (!row_) return;
  const auto now = Clock::real().now();
  const auto before = [&](Seconds time) { return now - std::chrono::duration_cast<Clock::Instant::duration>(time); };
  row_->slice("waits for its batch", before(stepping + waited), before(stepping));
  row_->slice("step", before(stepping), now);
}

void Reporter::note(const StepReport& step) {
  const Seconds stepping(step.seconds - step.waited), waited(step.waited);
  trace(stepping, waited);
  if (is_warming_up()) return;
  if (!watch_) watch_.emplace();
  if (epoch_.recording.steps() == 0) epoch_.launched = launch_time() - stepping;
  epoch_.frames += step.outcome.frames;
  epoch_.samples += step.outcome.samples;
  begin_between_steps();
  begin_with_another_ring(step.made.depth);
  const RecordedStep recorded{.stepping = stepping,
                              .waited = waited,
                              .batches = options_.accumulation,
                              .samples = step.outcome.samples,
                              .length = static_cast<double>(step.outcome.frames.computed)};
  for (TrainingRecording* recording : {&recording_, &epoch_.recording}) {
    recording->note(recorded, step.made);
    if (feed_ && recording->wants_threads()) recording->note_threads(feed_());
  }
  if (!goes_on_) at_first_end_ = counts();
  if (ring_ && is_profiled_ && recording_.wants_time())
    recording_.note_time(feed_ ? std::optional(feed_().since(recorded_.feed)) : std::nullopt,
                         ring_().since(recorded_.ring));
}

/// The note's lines on the last 100 steps.
void Reporter::monitor(const StepReport& step, const MachineLoad& load) {
  TrainingMemory memory;
  if (monitor_.is_due()) memory = {.host = host_memory().host, .gpu = load.gpu_own};
  const auto now = own_processor_time();
  const auto lines = monitor_.stepped({.step = step.state.step,
                                       .time = Seconds(step.seconds),
                                       .waited = Seconds(step.waited),
                                       .processor = now - processed_,
                                       .frames = step.outcome.frames.computed},
                                      memory);
  processed_ = now;
  for (const auto& line : lines) write_line("  " + line);
}

/// What the feed did before the first step was ready is no part of what it does for a step. So the recording of a
/// training with more than one begins at the first one's end.
void Reporter::begin_between_steps() {
  if (goes_on_ || recording_.steps() == 0) return;
  goes_on_ = true;
  recording_ = TrainingRecording({}, true);
  recorded_ = at_first_end_;
}

/// A recording is of one depth of the ring. What was done with another is kept, for a training that ends soon after.
void Reporter::begin_with_another_ring(int depth) {
  const int before = std::exchange(depth_, depth);
  if (before == depth || recording_.steps() == 0) return;
  settling_.elapsed += recording_.stepping() + recording_.waiting();
  settling_.items += recording_.steps();
  if (ring_ && (!kept_ || kept_->stages.back().items.size() < recording_.steps()))
    kept_ = recording_of(recording_, recorded_);
  recording_ = TrainingRecording({}, true);
  recorded_ = counts();
}

/// Whether the step belongs to those before the recording, which no report is about.
bool Reporter::is_warming_up() {
  if (warm_up_ == 0) return false;
  --warm_up_;
  recorded_ = reported_ = counts();
  load_ = LoadTrack(options_.gpu);
  recording_ = TrainingRecording({}, true);
  goes_on_ = true;
  return true;
}

/// What feed and thread did meanwhile belongs to no step.
void Reporter::resumed() {
  const TrainingCounts now = counts();
  if (goes_on_)
    recording_.note_pause(at_pause_, now);
  else
    at_first_end_ = now;
  if (epoch_.recording.steps() > 0)
    epoch_.recording.note_pause(at_pause_, now);
  else
    reported_ = now;
}

void Reporter::report_epoch() {
  if (epoch_.recording.steps() == 0) return;  // all of it was warm-up, or is reported
  report_feed();
  report_use();
  reported_ = counts();
  epoch_ = {.recording = TrainingRecording({}, /*goes_on=*/true)};
  load_ = LoadTrack(options_.gpu);
}

/// What feed and ring did since the last report.
void Reporter::report_feed() {
  if (!ring_) return;
  std::optional<FeedReport> feed;
  if (feed_) feed = feed_().since(reported_.feed);
  const StepTimes times{epoch_.recording.stepping().count(), epoch_.recording.waiting().count()};
  for (const auto& line : epoch_report(feed, ring_().since(reported_.ring), times, epoch_.frames)) write_line(line);
}

/// As they are now.
TrainingCounts Reporter::counts() const {
  TrainingCounts now{.core_wait = own_core_wait(), .launched = launch_time()};
  if (feed_) now.feed = feed_();
  if (ring_) now.ring = ring_();
  return now;
}

/// What was recorded since `start`.
RunRecording Reporter::recording_of(const TrainingRecording& recorded, const TrainingCounts& start) const {
  std::optional<FeedReport> feed;
  if (feed_) feed = feed_().since(start.feed);
  auto recording = recorded.recording(feed, ring_().since(start.ring));
  RecordedStage& steps = recording.stages.back();
  steps.core_wait = own_core_wait() - start.core_wait - recorded.paused_core_wait();
  steps.on_processor = !options_.gpu;
  if (options_.shares_cores) steps.threads_flag = field("compute_threads");
  if (options_.cores > 0) recording.cores = options_.cores;
  return recording;
}

/// How busy the device was. Where no driver reports that, steps count as busy: then a device that has little to do
/// waits.
void Reporter::report_use() {
  const TimeWeighted& gpu = load_.gpu();
  std::string line = machine_text(load_.load());
  if (!gpu.is_empty())
    line += ". GPU from " + percent(gpu.least()) + " to " + percent(gpu.most()) + ", deviation " +
            percent(gpu.deviation()) + (is_bursty(gpu) ? ": bursty" : "");
  if (!line.empty()) write_line("  the epoch's " + line);
  if (options_.detail == LogDetail::debug) write_line(loader_line(epoch_.recording.waits()));
  const double stepping = epoch_.recording.stepping().count(), waiting = epoch_.recording.waiting().count();
  const double whole = stepping + waiting;
  const auto steps = epoch_.recording.steps();
  if (!ring_ || steps < kFewestSteps || whole < kShortestEpoch.count()) return;
  const Seconds launched = launch_time() - epoch_.launched - epoch_.recording.paused_launches();
  const EpochUse use{
      .use = {.busy = gpu.is_empty() ? stepping / whole : gpu.mean(),
              .waiting = waiting / whole,
              .host = std::min(1.0, launched.count() / stepping)},
      .device = options_.gpu ? "cuda:" + std::to_string(*options_.gpu) : "cpu",
      .batch = static_cast<double>(epoch_.samples) / static_cast<double>(steps) / std::max(1, options_.accumulation)};
  const auto recording = recording_of(epoch_.recording, reported_);
  for (const auto& warning : low_use_warning(use, recording, diagnose_briefly(recording))) write_line(warning);
}

void Reporter::conclude_recording() {
  if (!ring_) return;
  RunRecording recording = recording_of(recording_, recorded_);
  const Settling all{.elapsed = settling_.elapsed + recording.elapsed, .items = settling_.items + recording_.steps()};
  if (kept_ && recording_.steps() < kFewestSteps) recording = std::move(*kept_);
  recording.settling = {.elapsed = all.elapsed - recording.elapsed,
                        .items = all.items - recording.stages.back().items.size()};
  const auto sentence = conclude(recording, watch_ ? watch_->evidence() : MachineEvidence());
  if (!sentence) return log(Level::warning, sentence.error().text());
  if (!sentence->empty()) write_line(*sentence);
}

void Reporter::draw() {
  const auto metrics = read_file(options_.out / "metrics.jsonl");
  const auto drawn = metrics ? write_file_atomically(options_.out / "loss.svg", loss_picture(*metrics))
                             : tl::unexpected<Error>(metrics.error());
  if (!drawn) log(Level::warning, drawn.error().text());
}

void Reporter::evaluated(const TrainingState& state, const TaskScores& scores, bool best) {
  log_.evaluated(state, scores, best);
  processed_ = own_processor_time();  // what evaluating took belongs to no step
  write_line("step " + std::to_string(state.step) + ": " + scores.text + std::string(best ? ", the best so far" : "") +
             (scores.remark.empty() ? "" : ", ") + scores.remark);
  draw();
}

void Reporter::refused(const std::string& id, const std::string& why) {
  if (auto noted = bad_->add(id, why); !noted) log(Level::warning, noted.error().text());
}

void Reporter::ended(const TrainingState& state, TrainingEnd end) {
  log_.ended();
  draw();
  report_epoch();
  const auto steps = std::to_string(state.step);
  if (end == TrainingEnd::interrupted)
    write_line("stopped after step " + steps + "; " + field("resume") + " goes on from here");
  else if (state.step == 0)
    write_line("its time was over before the first step");
  else
    write_line(std::string(end == TrainingEnd::no_progress ? "no progress any more: " : "") + "done after step " +
               steps + ", the model is in " + (options_.out / "model").string());
  conclude_recording();
}

}  // namespace tutti
