#include "train/report/training_recording.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "metrics/time_weighted.h"
#include "profile/recording_file.h"

namespace tutti {
namespace {

constexpr double kWorthAStage = 0.001;  // share of the steps and their waits below which a stage is left out

/// What sets a stage's threads: the computing ones have them together.
const char* flag_of(std::string_view stage) {
  if (stage == "read" || stage == "probe") return "--read-threads";
  if (stage == "decode" || stage == "resample" || stage == "augment" || stage == "features" || stage == "gather")
    return "--threads";
  return "";
}

StageResource resource_of(std::string_view stage) {
  return stage == "read" || stage == "probe" ? StageResource::io : StageResource::cpu;
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
  const Seconds ahead = ring.fetching + Seconds(ring.preparing.sum + ring.copying.sum);
  const double waiting = waited_ / elapsed_;
  const auto share = [&](Seconds part) { return ahead.count() > 0 ? waiting * (part / ahead) : 0; };
  phases.load.share = ahead.count() > 0 ? share(ring.fetching) : waiting;
  phases.preprocess.share = share(Seconds(ring.preparing.sum));
  phases.transfer.share = share(Seconds(ring.copying.sum));
  phases.training.share = 1 - waiting;
  phases.total.share = 1;
  return phases;
}

void TrainingRecording::note(Seconds stepping, Seconds waited, const BatchTimes& made) {
  if (steps_.empty() && !goes_on_) waited = Seconds(0);
  elapsed_ += stepping + waited;
  waited_ += waited;
  waits_.push_back(waited);
  steps_.push_back(stepping);
  made_.push_back(made);
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

namespace {

/// A stage in front of the plan: what it probed ahead of the plan is for later steps, and so are the rows that the plan
/// chose beyond those of the steps. Lines are more than rows where some are bad. `rows`: of a step.
Seconds time_of_planned_step(const StageReport& stage, const FeedReport& feed, double rows, Seconds even) {
  const auto& stages = feed.stages.stages;
  const auto plan = std::ranges::find(stages, std::string_view("plan"), &StageReport::name);
  if (plan == stages.end() || plan->items_in == 0 || plan->items_out == 0 || stage.items_out == 0) return even;
  const auto made = static_cast<double>(stage.name == plan->name ? plan->items_in : stage.items_out);
  const Seconds of_line = stage.times.busy / made;
  return of_line * (static_cast<double>(plan->items_in) / static_cast<double>(plan->items_out) * rows);
}

}  // namespace

/// The stage's time for each step. What it had done before, for more steps than there were, is done; the rest of its
/// time is that of the items it then did.
std::vector<Seconds> TrainingRecording::items_of(const StageReport& stage, const FeedReport& feed,
                                                 const RingReport& ring, const RecordingStart& start) const {
  const std::size_t steps = steps_.size();
  const Seconds even = stage.times.busy / static_cast<double>(std::max<std::size_t>(1, steps));
  const auto before = std::ranges::find(start.feed.stages.stages, stage.name, &StageReport::name);
  const auto batches = static_cast<double>(start.feed.batches + feed.batches);
  const bool is_planned = stage.name != "order" && stage.name != "probe" && stage.name != "plan";
  if (batches <= 0 || ring.batches <= 0 || stage.items_out == 0) return std::vector<Seconds>(steps, even);
  const bool makes_batches = stage.name == "batch";
  const double rows = makes_batches ? 1 : static_cast<double>(start.feed.samples + feed.samples) / batches;
  const double batches_of_step = static_cast<double>(ring.batches) / static_cast<double>(steps);
  if (!is_planned) return std::vector<Seconds>(steps, time_of_planned_step(stage, feed, rows * batches_of_step, even));
  if (before == start.feed.stages.stages.end()) return std::vector<Seconds>(steps, even);
  const auto in_steps = [&](std::uint64_t items) { return static_cast<double>(items) / rows / batches_of_step; };
  const double taken = static_cast<double>(start.ring.batches) / batches_of_step;
  const double ahead = std::max(0.0, in_steps(before->items_out) - taken);
  const Seconds cost = stage.times.busy / in_steps(stage.items_out);
  std::vector<Seconds> items;
  for (std::size_t i = 0; i < steps; ++i)
    items.push_back(cost * std::clamp(static_cast<double>(i + 1) - ahead, 0.0, 1.0));
  return items;
}

/// The ring's thread, step by step where that was measured. What it makes ready in a slot is one of the ring's batches
/// already, so that one fewer waits behind it. The first `ready` of them were so before.
RecordedStage TrainingRecording::batches(const RingReport& ring, bool has_feed, int ready) const {
  const int waiting = ring.transferring > ring.fetching ? ring.depth - 1 : ring.depth;
  RecordedStage stage{.name = "ring",
                      .queue = static_cast<std::size_t>(std::max(1, waiting)),
                      .times = ring.producer(!has_feed, elapsed_)};
  Seconds measured{};
  for (const BatchTimes& made : made_) {
    stage.items.push_back(has_feed ? made.transferring : made.fetching + made.transferring);
    measured += stage.items.back();
    if (std::cmp_less_equal(stage.items.size(), ready)) stage.items.back() = Seconds(0);
  }
  if (measured.count() <= 0)
    stage.items.assign(steps_.size(), stage.times.busy / static_cast<double>(std::max<std::size_t>(1, steps_.size())));
  return stage;
}

RunRecording TrainingRecording::recording(const std::optional<FeedReport>& feed, const RingReport& ring,
                                          const RecordingStart& start) const {
  RunRecording recording{.command = names_.command,
                         .unit = names_.unit,
                         .cores = usable_cores(),
                         .elapsed = elapsed_,
                         .held_up = feed ? std::min(feed->held_up, waited_) : Seconds(0),
                         .timeline = timeline_.timeline()};
  if (names_.command == std::string_view("train")) recording.phases = phases(ring);
  const auto add = [&](RecordedStage stage, Seconds busy) {
    if (busy >= kWorthAStage * elapsed_) recording.stages.push_back(std::move(stage));
  };
  for (const StageReport& stage : feed ? feed->stages.stages : std::vector<StageReport>()) {
    RecordedStage recorded{
        .name = stage.name, .resource = resource_of(stage.name), .threads_flag = flag_of(stage.name)};
    note_clocks(recorded, stage);
    recorded.items = items_of(stage, *feed, ring, start);
    const auto live = std::ranges::find(threads_.stages, stage.name, &StageReport::name);
    if (live != threads_.stages.end()) recorded.threads = std::max(1, live->threads.all());
    add(std::move(recorded), stage.times.busy);
  }
  auto made = batches(ring, feed.has_value(), start.ring.ready);
  const auto queue = made.queue;
  const Seconds making = made.times.busy;
  add(std::move(made), making);
  if (!recording.stages.empty()) {
    recording.stages.back().queue = queue;
    if (names_.command == std::string_view("train")) recording.stages.back().queue_flag = "--ring-depth";
  }
  recording.stages.push_back(
      {.name = names_.step, .resource = StageResource::device, .times = step_times(), .items = steps_});
  return recording;
}

}  // namespace tutti
