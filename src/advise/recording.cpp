#include "advise/recording.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "advise/pipeline_run.h"
#include "advise/replay.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

constexpr int kResamples = 40, kResamplesOfMany = 20;
constexpr std::size_t kMostDrawn = 128;  // items: the rates of larger draws follow from those of so many
constexpr std::size_t kExcerpt = 1024;   // items
constexpr Seconds kShortestRun{2};       // what is shorter is mostly start and end

std::size_t items_of(const PipelineModel& pipeline) {
  std::size_t items = 0;
  for (const StageModel& stage : pipeline.stages) items = std::max(items, stage.times->size());
  return items;
}

/// All items, once: as a run of a command has them.
ReplayResult play_once(const PipelineModel& pipeline) {
  const std::size_t items = items_of(pipeline);
  return replay(pipeline, {.items = items, .source_items = items});
}

double rate_of_all(const ReplayResult& played) {
  if (played.done_at.empty() || played.done_at.back().count() <= 0) return 0;
  return static_cast<double>(played.done_at.size()) / played.done_at.back().count();
}

/// So many items, drawn from these with repetition; an item's times in all stages stay together.
PipelineModel resampled(PipelineModel pipeline, std::size_t count, CounterRandom& random) {
  const std::size_t items = items_of(pipeline);
  std::vector<std::size_t> drawn(count);
  for (std::size_t& item : drawn) item = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(items)));
  for (StageModel& stage : pipeline.stages) {
    auto times = std::make_shared<std::vector<ItemTime>>();
    for (const std::size_t item : drawn) times->push_back((*stage.times)[item % stage.times->size()]);
    stage.times = std::move(times);
  }
  return pipeline;
}

/// Within the distance of two runs of the same work.
Fix predict_roughly(const PipelineModel& pipeline) {
  const double rate = rate_of_run(pipeline);
  return {{}, rate, (1 - kOtherRun) * rate, (1 + kOtherRun) * rate};
}

/// Within two deviations of the resampled rates, and no further than the slowest and the fastest of them: a few uneven
/// items have rates that are anything but symmetric. Of many items fewer are drawn, whose rates deviate from their mean
/// by the root of that more.
Fix predict_again(const PipelineModel& pipeline) {
  const double rate = rate_of_run(pipeline);
  const std::size_t items = items_of(pipeline), drawn = std::min(items, kMostDrawn);
  const bool are_all = drawn == items;
  CounterRandom random({digest("resampled items")});
  std::vector<double> rates;
  while (std::cmp_less(rates.size(), are_all ? kResamples : kResamplesOfMany))
    rates.push_back(rate_of_run(resampled(pipeline, drawn, random)));
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
  const double center = are_all ? rate : mean;
  const double scale = std::sqrt(static_cast<double>(drawn) / static_cast<double>(items)) * rate / center;
  double squares = 0, slowest = rate, fastest = rate;
  for (const double drawn_rate : rates) {
    const double other = rate + scale * (drawn_rate - center);
    squares += (other - rate) * (other - rate);
    slowest = std::min(slowest, other);
    fastest = std::max(fastest, other);
  }
  const double margin = 2 * std::sqrt(squares / static_cast<double>(rates.size())) + kOtherRun * rate;
  return {
      {}, rate, std::max((1 - kOtherRun) * slowest, rate - margin), std::min((1 + kOtherRun) * fastest, rate + margin)};
}

bool moves_threads(const Change& change) {
  return change.key == "threads" || change.key == "cores";
}

/// The pipeline with the waits of devices' threads for a core so many times as long.
PipelineModel with_core_waits(PipelineModel pipeline, double times) {
  for (StageModel& stage : pipeline.stages) stage.speed /= 1 + (times - 1) * stage.core_wait;
  return pipeline;
}

/// The replay gives a device's stage its recorded times, whatever threads run beside it. Where its own thread waited
/// for a core, other threads of the run held it: with other numbers of threads that wait can go, or become twice as
/// long.
void allow_for_core_waits(Fix& fix, const PipelineModel& pipeline) {
  if (std::ranges::all_of(pipeline.stages, [](const StageModel& stage) { return stage.core_wait <= 0; })) return;
  fix.low = std::min(fix.low, (1 - kOtherRun) * rate_of_run(with_core_waits(pipeline, 2)));
  fix.high = std::max(fix.high, (1 + kOtherRun) * rate_of_run(with_core_waits(pipeline, 0)));
}

}  // namespace

RunRecording excerpt_of(RunRecording recording) {
  std::size_t items = 0;
  for (const RecordedStage& stage : recording.stages) items = std::max(items, stage.items.size());
  if (items <= kExcerpt) return recording;
  const double every = static_cast<double>(items) / static_cast<double>(kExcerpt);
  recording.lengths.clear();  // of no meaning for a part of the items in their order
  for (RecordedStage& stage : recording.stages) {
    std::vector<Seconds> kept;
    for (std::size_t i = 0; i < kExcerpt; ++i)
      kept.push_back(stage.items[static_cast<std::size_t>(every * static_cast<double>(i)) % stage.items.size()]);
    stage.items = std::move(kept);
  }
  recording.elapsed = recording.elapsed / every;
  return recording;
}

double rate_of_run(const PipelineModel& pipeline) {
  return rate_of_all(play_once(pipeline));
}

PipelineModel model_of(const RunRecording& recording) {
  PipelineModel pipeline{recording.cores, {}};
  for (const RecordedStage& stage : recording.stages) {
    auto times = std::make_shared<std::vector<ItemTime>>();
    for (const Seconds time : stage.items) times->push_back({.work = time});
    const double busy = stage.times.busy.count();
    pipeline.stages.push_back({.name = stage.name,
                               .resource = stage.resource,
                               .threads = stage.threads,
                               .queue = stage.queue,
                               .times = std::move(times),
                               .on_core = stage.on_core,
                               .core_wait = busy > 0 ? std::clamp(stage.core_wait.count() / busy, 0.0, 0.9) : 0,
                               .threads_flag = stage.threads_flag});
  }
  return pipeline;
}

double rate_of(const RunRecording& recording) {
  const double items = static_cast<double>(items_of(model_of(recording)));
  return recording.elapsed.count() > 0 ? items / recording.elapsed.count() : 0;
}

double replayed_rate(const RunRecording& recording) {
  return rate_of_run(model_of(recording));
}

double model_error(const RunRecording& recording) {
  const double measured = rate_of(recording);
  return measured > 0 ? std::abs(replayed_rate(recording) / measured - 1) : 1;
}

Fix predict(const RunRecording& recording, const std::vector<Change>& changes) {
  PipelineModel pipeline = model_of(recording);
  for (const Change& change : changes) pipeline = changed(std::move(pipeline), change);
  Fix fix = predict_again(pipeline);
  fix.changes = changes;
  if (std::ranges::any_of(changes, moves_threads)) allow_for_core_waits(fix, pipeline);
  return fix;
}

namespace {

std::optional<Diagnosis> diagnose_by(const RunRecording& recording, Fix (*predict_with)(const PipelineModel&)) {
  if (model_error(recording) > kMostModelError) return std::nullopt;
  const auto has_flag = [&](const Change& change) {
    if (change.key == "speed") return true;
    return std::ranges::any_of(recording.stages, [&](const RecordedStage& stage) {
      if (stage.name != change.stage) return false;
      return change.key == "threads" ? !stage.threads_flag.empty() : change.key == "queue" && !stage.queue_flag.empty();
    });
  };
  return diagnose(model_of(recording),
                  {.play = play_once, .rate = rate_of_all, .predict = predict_with, .may_set = has_flag});
}

}  // namespace

std::optional<Diagnosis> diagnose(const RunRecording& recording) {
  return diagnose_by(recording, predict_again);
}

bool is_long_enough(const RunRecording& recording) {
  const auto is_empty = [](const RecordedStage& stage) { return stage.items.empty(); };
  return recording.elapsed >= kShortestRun && !recording.stages.empty() &&
         std::ranges::none_of(recording.stages, is_empty);
}

bool has_enough_items(const RunRecording& recording) {
  return is_long_enough(recording) && recording.stages.back().items.size() >= recording.least_items;
}

std::optional<Diagnosis> diagnose_briefly(const RunRecording& recording) {
  if (!has_enough_items(recording)) return std::nullopt;
  return diagnose_by(excerpt_of(recording), predict_roughly);
}

}  // namespace tutti
