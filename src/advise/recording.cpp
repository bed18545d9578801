#include "advise/recording.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "advise/pipeline_run.h"
#include "advise/replay.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

constexpr int kResamples = 40;
constexpr std::size_t kExcerpt = 1024;  // items
constexpr Seconds kShortestRun{2};      // what is shorter is mostly start and end

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

/// As many items, drawn from these with repetition; an item's times in all stages stay together.
PipelineModel resampled(PipelineModel pipeline, CounterRandom& random) {
  const std::size_t items = items_of(pipeline);
  std::vector<std::size_t> drawn(items);
  for (std::size_t& item : drawn) item = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(items)));
  for (StageModel& stage : pipeline.stages) {
    auto times = std::make_shared<std::vector<ItemTime>>();
    for (const std::size_t item : drawn) times->push_back((*stage.times)[item % stage.times->size()]);
    stage.times = std::move(times);
  }
  return pipeline;
}

/// Every so many items, and as much of the time.
RunRecording excerpt_of(RunRecording recording) {
  std::size_t items = 0;
  for (const RecordedStage& stage : recording.stages) items = std::max(items, stage.items.size());
  if (items <= kExcerpt) return recording;
  const double every = static_cast<double>(items) / static_cast<double>(kExcerpt);
  for (RecordedStage& stage : recording.stages) {
    std::vector<Seconds> kept;
    for (std::size_t i = 0; i < kExcerpt; ++i)
      kept.push_back(stage.items[static_cast<std::size_t>(every * static_cast<double>(i)) % stage.items.size()]);
    stage.items = std::move(kept);
  }
  recording.elapsed = recording.elapsed / every;
  return recording;
}

/// Within the distance of two runs of the same work.
Fix predict_roughly(const PipelineModel& pipeline) {
  const double rate = rate_of_all(play_once(pipeline));
  return {{}, rate, (1 - kOtherRun) * rate, (1 + kOtherRun) * rate};
}

Fix predict_again(const PipelineModel& pipeline) {
  const double rate = rate_of_all(play_once(pipeline));
  CounterRandom random({digest("resampled items")});
  double squares = 0;
  for (int i = 0; i < kResamples; ++i) {
    const double deviation = rate_of_all(play_once(resampled(pipeline, random))) - rate;
    squares += deviation * deviation;
  }
  const double margin = 2 * std::sqrt(squares / kResamples) + kOtherRun * rate;
  return {{}, rate, std::max(0.0, rate - margin), rate + margin};
}

}  // namespace

PipelineModel model_of(const RunRecording& recording) {
  PipelineModel pipeline{recording.cores, {}};
  for (const RecordedStage& stage : recording.stages) {
    auto times = std::make_shared<std::vector<ItemTime>>();
    for (const Seconds time : stage.items) times->push_back({.work = time});
    pipeline.stages.push_back(
        {stage.name, stage.resource, stage.threads, stage.queue, 1, std::move(times), stage.threads_flag});
  }
  return pipeline;
}

double rate_of(const RunRecording& recording) {
  const double items = static_cast<double>(items_of(model_of(recording)));
  return recording.elapsed.count() > 0 ? items / recording.elapsed.count() : 0;
}

double replayed_rate(const RunRecording& recording) {
  return rate_of_all(play_once(model_of(recording)));
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
  return fix;
}

namespace {

std::optional<Diagnosis> diagnose_by(const RunRecording& recording, Fix (*predict_with)(const PipelineModel&)) {
  if (model_error(recording) > kMostModelError) return std::nullopt;
  const auto has_flag = [&](const Change& change) {
    if (change.key == "speed") return true;
    return change.key == "threads" && std::ranges::any_of(recording.stages, [&](const RecordedStage& stage) {
             return stage.name == change.stage && !stage.threads_flag.empty();
           });
  };
  return diagnose(model_of(recording),
                  {.play = play_once, .rate = rate_of_all, .predict = predict_with, .may_set = has_flag});
}

}  // namespace

std::optional<Diagnosis> diagnose(const RunRecording& recording) {
  return diagnose_by(recording, predict_again);
}

std::optional<Diagnosis> diagnose_briefly(const RunRecording& recording) {
  const auto is_empty = [](const RecordedStage& stage) { return stage.items.empty(); };
  if (recording.elapsed < kShortestRun || recording.stages.empty()) return std::nullopt;
  if (std::ranges::any_of(recording.stages, is_empty)) return std::nullopt;
  return diagnose_by(excerpt_of(recording), predict_roughly);
}

namespace {

constexpr double kWorthAThread = 0.01;

/// A stage of each flag that sets threads, the first, by their indices.
std::vector<std::size_t> tunable_stages(const PipelineModel& pipeline) {
  std::vector<std::size_t> stages;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const auto is_there = [&](std::size_t other) { return is_set_with(pipeline.stages[other], pipeline.stages[s]); };
    if (!pipeline.stages[s].threads_flag.empty() && std::ranges::none_of(stages, is_there)) stages.push_back(s);
  }
  return stages;
}

PipelineModel with_one_more(PipelineModel pipeline, std::size_t stage) {
  const StageModel& it = pipeline.stages[stage];
  const Change more{it.name, "threads", it.threads + 1.0};
  return changed(std::move(pipeline), more);
}

/// One more by one of the flags of these stages, or by two of them.
std::vector<PipelineModel> with_more_threads(const PipelineModel& pipeline, const std::vector<std::size_t>& stages,
                                             int left) {
  std::vector<PipelineModel> all;
  for (std::size_t a = 0; a < stages.size(); ++a)
    for (std::size_t b = a; b < stages.size(); ++b) {
      if (left < (a == b ? 1 : 2)) continue;
      PipelineModel next = with_one_more(pipeline, stages[a]);
      all.push_back(a == b ? std::move(next) : with_one_more(std::move(next), stages[b]));
    }
  return all;
}

}  // namespace

std::vector<Change> tuned_threads(const RunRecording& recording, int most) {
  const RunRecording excerpt = excerpt_of(recording);
  PipelineModel best = model_of(excerpt);
  const auto stages = tunable_stages(best);
  double rate = rate_of_all(play_once(best));
  int left = most;
  for (const std::size_t s : stages) left -= best.stages[s].threads;
  const PipelineModel before = best;
  for (bool gains = true; gains && left > 0;) {
    gains = false;
    const PipelineModel from = best;
    double wanted = rate * (1 + kWorthAThread);
    for (PipelineModel& next : with_more_threads(from, stages, left))
      if (const double found = rate_of_all(play_once(next)); found > wanted)
        wanted = rate = found, best = std::move(next), gains = true;
    for (const std::size_t s : stages) left -= best.stages[s].threads - from.stages[s].threads;
  }
  std::vector<Change> changes;
  for (const std::size_t s : stages)
    if (best.stages[s].threads != before.stages[s].threads)
      changes.push_back({best.stages[s].name, "threads", static_cast<double>(best.stages[s].threads)});
  return changes;
}

}  // namespace tutti
