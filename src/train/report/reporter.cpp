#include "train/report/reporter.h"

#include <cstdio>
#include <limits>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "train/report/epoch_report.h"
#include "train/report/loss_picture.h"
#include "view/text.h"

namespace tutti {

Reporter::Reporter(ReporterOptions options, TrainingLog log, std::unique_ptr<BadSamples> bad)
    : options_(options),
      log_(std::move(log)),
      bad_(std::move(bad)),
      progress_(options.log_steps, options.most_time),
      machine_(options.gpu) {}

Result<std::unique_ptr<Reporter>> Reporter::open(const ReporterOptions& options) {
  auto log = TrainingLog::open({.out = options.out,
                                .last_step = options.last_step,
                                .evaluation_due = options.evaluation_due,
                                .log_steps = options.log_steps,
                                .log_order = options.log_order});
  if (!log) return tl::unexpected<Error>(log.error());
  // Every epoch meets them again; they are written once, and however many they are, it is the feed's limits that count.
  constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
  auto bad = BadSamples::open(options.out / "bad_samples.jsonl", {.count = kNoLimit, .share = 1}, kNoLimit);
  if (!bad) return tl::unexpected<Error>(bad.error());
  return std::unique_ptr<Reporter>(new Reporter(options, std::move(*log), std::move(*bad)));
}

void Reporter::write_line(const std::string& line) {
  progress_.end();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Reporter::stepped(const StepReport& step) {
  machine_.take(sampler_.latest());
  const auto load = machine_.load();
  log_.stepped(step, load);
  progress_.stepped(step, machine_text(load));
  frames_ += step.outcome.frames;
  times_.stepping += step.seconds - step.waited;
  if (recording_file_) {
    recording_.note(Seconds(step.seconds - step.waited), Seconds(step.waited));
    if (feed_ && recording_.wants_threads()) recording_.note_threads(feed_());
  }
  if (std::exchange(has_begun_, true)) times_.waiting += step.waited;  // the first batch's wait is the start, no stall
  if (!step.ends_epoch) return;
  write_line("epoch " + std::to_string(step.state.epoch + 1) + ": " + std::to_string(step.state.step) + " steps, " +
             length_text(Seconds(step.state.seconds)));
  report_feed();
  draw();
}

/// What feed and ring did since the last report.
void Reporter::report_feed() {
  if (feed_ && ring_) {
    auto feed = feed_();
    auto ring = ring_();
    for (const auto& line : epoch_report(feed.since(reported_feed_), ring.since(reported_ring_), times_, frames_))
      write_line(line);
    reported_feed_ = std::move(feed);
    reported_ring_ = std::move(ring);
  }
  times_ = {};
  frames_ = {};
}

void Reporter::write_recording() {
  if (!feed_ || !ring_) return;
  const auto written = tutti::write_recording(recording_.recording(feed_(), ring_()), *recording_file_);
  if (!written) log(Level::warning, written.error().text());
}

void Reporter::draw() {
  const auto metrics = read_file(options_.out / "metrics.jsonl");
  const auto drawn = metrics ? write_file_atomically(options_.out / "loss.svg", loss_picture(*metrics))
                             : tl::unexpected<Error>(metrics.error());
  if (!drawn) log(Level::warning, drawn.error().text());
}

void Reporter::evaluated(const TrainingState& state, const TaskScores& scores, bool best) {
  log_.evaluated(state, scores, best);
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
  if (recording_file_) write_recording();
  if (times_.stepping > 0) report_feed();
  const auto steps = std::to_string(state.step);
  if (end == TrainingEnd::interrupted)
    write_line("stopped after step " + steps + "; --resume goes on from here");
  else if (state.step == 0)
    write_line("its time was over before the first step");
  else
    write_line(std::string(end == TrainingEnd::no_progress ? "no progress any more: " : "") + "done after step " +
               steps + ", the model is in " + (options_.out / "model").string());
}

}  // namespace tutti
