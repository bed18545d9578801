#include "advise/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "advise/replay.h"

namespace tutti {
namespace {

constexpr std::size_t kItems = 2048;     // items of a replay
constexpr std::size_t kFewItems = 768;   // beside a run, whose cores it takes
constexpr double kWorthAThread = 0.003;  // share of the rate that a thread must gain
constexpr int kMostRounds = 60;

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

/// What is tuned: threads of the open stages, and queues where their items have a budget.
struct Freedom {
  int threads = 1;  // of all stages
  std::vector<bool> open{};
  std::vector<int> least{}, most{};  // threads by stage; empty: any
  bool queues = false;
  double least_gain = 0;  // share of the rate
  std::size_t items = kItems;

  double rate_of(const PipelineModel& pipeline) const { return replay(pipeline, {.items = items}).rate(); }
  int least_of(std::size_t stage) const { return least.empty() ? 1 : least[stage]; }
  int most_of(std::size_t stage) const { return most.empty() ? std::numeric_limits<int>::max() : most[stage]; }
};

/// The highest rate that cores, devices and the threads that may not be set suffice for.
double ceiling_of(const PipelineModel& pipeline, const Freedom& freedom) {
  double ceiling = 1e9;
  Seconds on_cores{};
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const StageModel& stage = pipeline.stages[s];
    const Seconds cost = mean_service(stage);
    if (cost.count() <= 0) continue;
    if (stage.resource == StageResource::cpu) on_cores += std::min(1.0, stage.on_core) * cost;
    if (stage.resource == StageResource::device) ceiling = std::min(ceiling, 1 / cost.count());
    const int threads = freedom.open[s] ? freedom.most_of(s) : stage.threads;
    ceiling = std::min(ceiling, threads / cost.count());
  }
  return on_cores.count() > 0 ? std::min(ceiling, pipeline.cores / on_cores.count()) : ceiling;
}

/// threads = rate * cost, for the highest rate at which they suffice, cores and devices too.
void solve_threads(PipelineModel& pipeline, const Freedom& freedom) {
  std::vector<Seconds> costs;
  for (const StageModel& stage : pipeline.stages) costs.push_back(mean_service(stage));
  const auto needed = [&](std::size_t s, double rate) {
    const StageModel& stage = pipeline.stages[s];
    if (!freedom.open[s]) return static_cast<double>(stage.threads);
    const double least = freedom.least_of(s);
    return std::clamp(needed_threads(stage, rate, costs[s]), least, std::max<double>(least, freedom.most_of(s)));
  };
  const auto all_threads = [&](double rate) {
    double all = 0;
    for (std::size_t s = 0; s < costs.size(); ++s) all += needed(s, rate);
    return all;
  };
  double low = 0, high = ceiling_of(pipeline, freedom);
  if (all_threads(high) <= freedom.threads) low = high;
  for (int i = 0; i < 60 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (all_threads(middle) <= freedom.threads ? low : high) = middle;
  }
  for (std::size_t s = 0; s < costs.size(); ++s) pipeline.stages[s].threads = static_cast<int>(needed(s, low));
}

/// Every queue the same, what is left over in front of the last stages.
void spread_queues(PipelineModel& pipeline, std::size_t budget) {
  const std::size_t queues = pipeline.stages.size() - 1;
  for (std::size_t s = 0; s < queues; ++s) pipeline.stages[s].queue = budget / queues + (s < budget % queues ? 1 : 0);
  pipeline.stages.back().queue = 1;
}

/// Pipelines one step away: a thread more, a thread moved, items of a queue moved.
std::vector<PipelineModel> neighbours(const PipelineModel& pipeline, const Freedom& freedom) {
  std::vector<PipelineModel> all;
  const std::size_t count = pipeline.stages.size();
  const auto with = [&](auto change) {
    PipelineModel next = pipeline;
    change(next.stages);
    all.push_back(std::move(next));
  };
  const bool has_threads = threads_of(pipeline) < freedom.threads;
  for (std::size_t to = 0; to < count; ++to) {
    if (!freedom.open[to] || pipeline.stages[to].threads >= freedom.most_of(to)) continue;
    if (has_threads) {
      with([&](auto& stages) { ++stages[to].threads; });
      continue;
    }
    for (std::size_t from = 0; from < count; ++from)
      if (from != to && freedom.open[from] && pipeline.stages[from].threads > freedom.least_of(from))
        with([&](auto& stages) { --stages[from].threads, ++stages[to].threads; });
  }
  for (std::size_t to = 0; freedom.queues && to + 1 < count; ++to)
    for (std::size_t from = 0; from + 1 < count; ++from) {
      const std::size_t moved = std::max<std::size_t>(1, pipeline.stages[from].queue / 2);
      if (from != to && pipeline.stages[from].queue > moved)
        with([&](auto& stages) { stages[from].queue -= moved, stages[to].queue += moved; });
    }
  return all;
}

/// Takes the best step as long as one is worth it.
void climb(PipelineModel& pipeline, const Freedom& freedom) {
  double rate = freedom.rate_of(pipeline);
  for (int round = 0; round < kMostRounds; ++round) {
    std::optional<PipelineModel> best;
    double best_rate = rate * (1 + freedom.least_gain);
    for (PipelineModel& next : neighbours(pipeline, freedom))
      if (const double next_rate = freedom.rate_of(next); next_rate > best_rate)
        best_rate = next_rate, best = std::move(next);
    if (!best) return;
    pipeline = std::move(*best);
    rate = best_rate;
  }
}

}  // namespace

PipelineModel tuned(PipelineModel pipeline, const TuningBudget& budget) {
  const Freedom all{.threads = budget.threads,
                    .open = std::vector<bool>(pipeline.stages.size(), true),
                    .queues = true,
                    .least_gain = kWorthAThread};
  solve_threads(pipeline, all);
  if (pipeline.stages.size() > 1) spread_queues(pipeline, budget.queue);
  climb(pipeline, all);
  return pipeline;
}

PipelineModel tuned_threads(PipelineModel pipeline, const ThreadBudget& budget) {
  const Freedom some{.threads = budget.threads,
                     .open = budget.open,
                     .least = budget.least,
                     .most = budget.most,
                     .least_gain = budget.least_gain,
                     .items = kFewItems};
  solve_threads(pipeline, some);
  climb(pipeline, some);
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
