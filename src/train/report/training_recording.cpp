#include "train/report/training_recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/field_names.h"
#include "metrics/time_weighted.h"
#include "profile/recording_file.h"

namespace tutti {
namespace {

constexpr double kWorthAStage = 0.001;  // share of the steps and their waits below which a stage is left out

/// What sets a stage's threads: the computing ones have them together.
std::string flag_of(std::string_view stage) {
  if (stage == "read" || stage == "probe") return field("read_threads");
  if (stage == "decode" || stage == "resample" || stage == "augment" || stage == "features" || stage == "gather")
    return field("threads");
  return "";
}

StageResource resource_of(std::string_view stage) {
  return stage == "read" || stage == "probe" ? StageResource::io : StageResource::cpu;
}

/// Whether an item of the stage is a row: what comes behind "batch" or "gather", and the latter's lists, are batches.
bool is_of_rows(std::string_view stage) {
  return stage != "batch" && stage != "list" && stage != "gather";
}

Seconds sum_of(const std::vector<Seconds>& items) {
  return std::accumulate(items.begin(), items.end(), Seconds(0));
}

/// The deviation to the width of the histogram's buckets.
Spread spread_in(const HistogramSnapshot& times) {
  if (times.count == 0) return {};
  TimeWeighted spread;
  for (const auto& [bound, count] : times.buckets) spread.add(bound, static_cast<double>(count));
  return {.mean = Seconds(times.mean()),
          .deviation = Seconds(spread.deviation()),
          .least = Seconds(times.min),
          .most = Seconds(times.max),
          .p50 = Seconds(times.percentile(0.5)),
          .p95 = Seconds(times.percentile(0.95))};
}

}  // namespace

/// The ring's thread works ahead, so that only waits are on the steps' path; they are for what it was at meanwhile.
StepPhases TrainingRecording::phases(const RingReport& ring) const {
  std::vector<Seconds> wholes;
  for (std::size_t i = 0; i < steps_.size(); ++i) wholes.push_back(steps_[i] + waits_[i]);
  StepPhases phases;
  phases.load.times = spread_of(waits_);
  phases.preprocess.times = spread_in(ring.preparing);
  phases.transfer.times = spread_in(ring.copying);
  phases.training.times = spread_of(steps_);
  phases.total.times = spread_of(std::move(wholes));
  if (elapsed_.count() <= 0) return phases;
  const Seconds fetching = sum_of(fetching_), transferring = sum_of(transferring_), ahead = fetching + transferring;
  const double copied = ring.preparing.sum + ring.copying.sum;
  const Seconds copying = copied > 0 ? transferring * (ring.copying.sum / copied) : Seconds(0);
  const double waiting = waited_ / elapsed_;
  const auto share = [&](Seconds part) { return ahead.count() > 0 ? waiting * (part / ahead) : 0; };
  phases.load.share = ahead.count() > 0 ? share(fetching) : waiting;
  phases.preprocess.share = share(transferring - copying);
  phases.transfer.share = share(copying);
  phases.training.share = 1 - waiting;
  phases.total.share = 1;
  return phases;
}

TrainingRecording::Column& TrainingRecording::column_of(std::string_view stage) {
  const auto found = std::ranges::find(made_, stage, &Column::stage);
  return found != made_.end() ? *found : made_.emplace_back(Column{.stage = std::string(stage)});
}

void TrainingRecording::note(RecordedStep step, const BatchTimes& made) {
  if (steps_.empty() && !goes_on_) step.waited = Seconds(0);
  const Seconds whole = step.stepping + step.waited;
  time_.add(step.ended - std::chrono::duration_cast<Clock::Instant::duration>(whole), step.ended);
  elapsed_ += whole;
  waited_ += step.waited;
  waits_.push_back(step.waited);
  steps_.push_back(step.stepping);
  lengths_.push_back(step.length);
  batches_ += step.batches;
  samples_ += step.samples;
  for (const StageWork::Entry& entry : made.feed.entries()) {
    Column& column = column_of(entry.stage);
    column.items.resize(steps_.size());
    column.items.back() += time_.within(entry.span);
  }
  fetching_.push_back(time_.within(made.fetching));
  transferring_.push_back(time_.within(made.transferring));
  held_up_ += std::min(time_.within(made.held_up), step.waited);
}

void TrainingRecording::note_pause(const TrainingCounts& before, const TrainingCounts& after) {
  paused_core_wait_ += after.core_wait - before.core_wait;
  paused_launches_ += after.launched - before.launched;
  const FeedReport passed = after.feed.since(before.feed);
  for (const StageReport& stage : passed.stages.stages) column_of(stage.name).blocked_in_pauses += stage.times.blocked;
}

void TrainingRecording::note_threads(const FeedReport& feed) {
  threads_ = feed.stages;
  has_threads_ = true;
}

/// The steps on the device, and their waits for batches.
PhaseTimes TrainingRecording::step_times() const {
  return {.name = names_.step, .busy = stepping(), .waiting = waited_, .count = steps_.size()};
}

void TrainingRecording::note_time(const std::optional<FeedReport>& feed, const RingReport& ring) {
  sampled_ = elapsed_;
  auto phases = phases_of(feed ? feed->stages.stages : std::vector<StageReport>());
  if (ring.depth > 0) phases.push_back({ring.producer(!feed, elapsed_), ring.fill()});
  phases.push_back({step_times()});
  timeline_.sample(elapsed_.count(), steps_.size(), phases);
}

double TrainingRecording::batches_of_step() const {
  return steps_.empty() ? 1 : std::max(1.0, static_cast<double>(batches_) / static_cast<double>(steps_.size()));
}

/// A queue of rows holds as many steps as they make, one at least. Rows behind the plan are of few batches, whatever
/// their queues would hold.
RecordedStage TrainingRecording::fed_stage(const StageReport& stage) const {
  RecordedStage recorded{.name = stage.name, .resource = resource_of(stage.name), .threads_flag = flag_of(stage.name)};
  note_clocks(recorded, stage);
  const double rows = static_cast<double>(samples_) / static_cast<double>(std::max<std::size_t>(1, steps_.size()));
  const double of_step = is_of_rows(stage.name) ? std::max(1.0, rows) : batches_of_step();
  recorded.queue = static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(recorded.queue) / of_step)));
  if (is_of_rows(stage.name) && stage.name != "order" && stage.name != "probe") recorded.queue = 1;
  const auto column = std::ranges::find(made_, stage.name, &Column::stage);
  if (column != made_.end()) recorded.items = column->items;
  recorded.items.resize(steps_.size());
  const auto live = std::ranges::find(threads_.stages, stage.name, &StageReport::name);
  if (live != threads_.stages.end()) recorded.threads = std::max(1, live->threads.all());
  recorded.times.busy = sum_of(recorded.items);
  if (column != made_.end())
    recorded.times.blocked = std::max(Seconds(0), recorded.times.blocked - column->blocked_in_pauses);
  recorded.times.waiting =
      std::max(Seconds(0), recorded.threads * elapsed_ - recorded.times.busy - recorded.times.blocked);
  return recorded;
}

/// The ring's thread. What it makes ready in a slot is one of the ring's batches already, so that one fewer waits
/// behind it.
RecordedStage TrainingRecording::batches(const RingReport& ring, bool has_feed) const {
  const int waiting = ring.transferring > ring.fetching ? ring.depth - 1 : ring.depth;
  RecordedStage stage{.name = "ring",
                      .queue = static_cast<std::size_t>(std::max(1.0, std::round(waiting / batches_of_step()))),
                      .items = transferring_};
  for (std::size_t i = 0; !has_feed && i < stage.items.size(); ++i) stage.items[i] += fetching_[i];
  stage.times = {.name = stage.name, .busy = sum_of(stage.items), .count = static_cast<std::uint64_t>(batches_)};
  stage.times.waiting = std::max(Seconds(0), elapsed_ - stage.times.busy);
  return stage;
}

RunRecording TrainingRecording::recording(const std::optional<FeedReport>& feed, const RingReport& ring) const {
  RunRecording recording{.command = names_.command,
                         .unit = names_.unit,
                         .cores = usable_cores(),
                         .elapsed = elapsed_,
                         .least_items = kFewestSteps,
                         .held_up = held_up_,
                         .timeline = timeline_.timeline()};
  if (std::ranges::all_of(lengths_, [](double length) { return length > 0; })) recording.lengths = lengths_;
  if (names_.command == std::string_view("train")) recording.phases = phases(ring);
  const auto add = [&](RecordedStage stage) {
    if (stage.times.busy >= kWorthAStage * elapsed_) recording.stages.push_back(std::move(stage));
  };
  for (const StageReport& stage : feed ? feed->stages.stages : std::vector<StageReport>()) add(fed_stage(stage));
  RecordedStage made = batches(ring, feed.has_value());
  const auto queue = made.queue;
  add(std::move(made));
  if (!recording.stages.empty()) {
    recording.stages.back().queue = queue;
    const bool is_flags = names_.command == std::string_view("train") && batches_of_step() < 1.5;  // it counts batches
    if (is_flags) recording.stages.back().queue_flag = field("ring_depth");
  }
  recording.stages.push_back(
      {.name = names_.step, .resource = StageResource::device, .times = step_times(), .items = steps_});
  return recording;
}

}  // namespace tutti
