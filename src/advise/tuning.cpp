#include "advise/tuning.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "advise/replay.h"

namespace tutti {
namespace {

constexpr std::size_t kItems = 2048;     // items of a replay
constexpr double kWorthAThread = 0.003;  // share of the rate that a thread must gain
constexpr int kMostRounds = 60;

double rate_of(const PipelineModel& pipeline) {
  return replay(pipeline, {.items = kItems}).rate();
}

int threads_of(const PipelineModel& pipeline) {
  int all = 0;
  for (const StageModel& stage : pipeline.stages) all += stage.threads;
  return all;
}

/// Threads that a stage needs for `rate`: more cannot help a stage that waits for its device.
double needed_threads(const StageModel& stage, double rate, Seconds cost) {
  if (stage.resource == StageResource::device) return 1;
  return std::max(1.0, std::ceil(rate * cost.count() - 1e-9));
}

/// threads = rate * cost, for the highest rate at which they suffice, cores and devices too.
void solve_threads(PipelineModel& pipeline, int budget) {
  std::vector<Seconds> costs;
  double ceiling = 1e9;
  Seconds on_cores{};
  for (const StageModel& stage : pipeline.stages) {
    costs.push_back(mean_service(stage));
    if (stage.resource == StageResource::cpu) on_cores += costs.back();
    if (stage.resource == StageResource::device && costs.back().count() > 0)
      ceiling = std::min(ceiling, 1 / costs.back().count());
  }
  if (on_cores.count() > 0) ceiling = std::min(ceiling, pipeline.cores / on_cores.count());
  const auto all_threads = [&](double rate) {
    double all = 0;
    for (std::size_t s = 0; s < costs.size(); ++s) all += needed_threads(pipeline.stages[s], rate, costs[s]);
    return all;
  };
  double low = 0, high = ceiling;
  if (all_threads(high) <= budget) low = high;
  for (int i = 0; i < 60 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (all_threads(middle) <= budget ? low : high) = middle;
  }
  for (std::size_t s = 0; s < costs.size(); ++s)
    pipeline.stages[s].threads = static_cast<int>(needed_threads(pipeline.stages[s], low, costs[s]));
}

/// Every queue the same, what is left over in front of the last stages.
void spread_queues(PipelineModel& pipeline, std::size_t budget) {
  const std::size_t queues = pipeline.stages.size() - 1;
  for (std::size_t s = 0; s < queues; ++s) pipeline.stages[s].queue = budget / queues + (s < budget % queues ? 1 : 0);
  pipeline.stages.back().queue = 1;
}

/// Pipelines one step away: a thread more, a thread moved, items of a queue moved.
std::vector<PipelineModel> neighbours(const PipelineModel& pipeline, const TuningBudget& budget) {
  std::vector<PipelineModel> all;
  const std::size_t count = pipeline.stages.size();
  const auto with = [&](auto change) {
    PipelineModel next = pipeline;
    change(next.stages);
    all.push_back(std::move(next));
  };
  const bool has_threads = threads_of(pipeline) < budget.threads;
  for (std::size_t to = 0; to < count; ++to) {
    if (has_threads) {
      with([&](auto& stages) { ++stages[to].threads; });
      continue;
    }
    for (std::size_t from = 0; from < count; ++from)
      if (from != to && pipeline.stages[from].threads > 1)
        with([&](auto& stages) { --stages[from].threads, ++stages[to].threads; });
  }
  for (std::size_t to = 0; to + 1 < count; ++to)
    for (std::size_t from = 0; from + 1 < count; ++from) {
      const std::size_t moved = std::max<std::size_t>(1, pipeline.stages[from].queue / 2);
      if (from != to && pipeline.stages[from].queue > moved)
        with([&](auto& stages) { stages[from].queue -= moved, stages[to].queue += moved; });
    }
  return all;
}

/// Takes the best step as long as one is worth it.
void climb(PipelineModel& pipeline, const TuningBudget& budget) {
  double rate = rate_of(pipeline);
  for (int round = 0; round < kMostRounds; ++round) {
    std::optional<PipelineModel> best;
    double best_rate = rate * (1 + kWorthAThread);
    for (PipelineModel& next : neighbours(pipeline, budget))
      if (const double next_rate = rate_of(next); next_rate > best_rate) best_rate = next_rate, best = std::move(next);
    if (!best) return;
    pipeline = std::move(*best);
    rate = best_rate;
  }
}

}  // namespace

PipelineModel tuned(PipelineModel pipeline, const TuningBudget& budget) {
  solve_threads(pipeline, budget.threads);
  if (pipeline.stages.size() > 1) spread_queues(pipeline, budget.queue);
  climb(pipeline, budget);
  return pipeline;
}

std::vector<Change> settings_of(const PipelineModel& pipeline) {
  std::vector<Change> settings;
  for (const StageModel& stage : pipeline.stages)
    settings.push_back({stage.name, "threads", static_cast<double>(stage.threads)});
  for (std::size_t s = 0; s + 1 < pipeline.stages.size(); ++s)
    settings.push_back({pipeline.stages[s].name, "queue", static_cast<double>(pipeline.stages[s].queue)});
  return settings;
}

}  // namespace tutti
