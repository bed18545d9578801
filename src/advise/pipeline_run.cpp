#include "advise/pipeline_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr std::size_t kLongRun = 12000;      // items
constexpr std::size_t kDraws = 12;           // tried
constexpr std::size_t kBetweenDraws = 4096;  // items
constexpr double kRepresentative = 0.01;
constexpr std::size_t kAllItems = std::numeric_limits<std::size_t>::max();

/// How much of [from, to) is in the run's measured part.
Seconds measured_part(const PipelineRun& run, Seconds from, Seconds to) {
  return std::max(Seconds(0), std::min(to, run.part.to) - std::max(from, run.part.from));
}

std::vector<Seconds> ends_of(const std::vector<ItemSpan>& items) {
  std::vector<Seconds> ends;
  for (const ItemSpan& item : items)
    if (item.ended != Seconds::max()) ends.push_back(item.ended);
  std::ranges::sort(ends);
  return ends;
}

StageShares shares_of(const StageModel& stage, const PipelineRun& run, const std::vector<ItemSpan>& items) {
  Seconds busy{}, blocked{}, core_wait{};
  for (const ItemSpan& item : items) {
    core_wait += measured_part(run, item.taken, item.began);
    busy += measured_part(run, item.began, item.ended);
    blocked += measured_part(run, item.ended, item.handed_on);
  }
  const Seconds spent = (run.part.to - run.part.from) * stage.threads;
  StageShares shares{.busy = busy / spent, .blocked = blocked / spent, .core_wait = core_wait / spent};
  shares.starved = std::max(0.0, 1 - shares.busy - shares.blocked);
  return shares;
}

bool was_measured(const PipelineRun& run, const ItemSpan& item) {
  return item.ended != Seconds::max() && item.ended >= run.part.from && item.ended < run.part.to;
}

StageFigures figures_of_stage(const StageModel& stage, const PipelineRun& run, const std::vector<ItemSpan>& items) {
  std::vector<Seconds> services;
  Seconds sum{};
  for (const ItemSpan& item : items)
    if (was_measured(run, item)) services.push_back(item.ended - item.began), sum += services.back();
  StageFigures figures{.shares = shares_of(stage, run, items), .items = services.size()};
  if (services.empty()) return figures;
  const auto rank = static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(services.size() - 1));
  std::ranges::nth_element(services, services.begin() + rank);
  figures.p95 = services[static_cast<std::size_t>(rank)];
  figures.mean = sum / static_cast<double>(services.size());
  return figures;
}

/// How far the measured times are from the model's, over the same items.
double time_error(const StageModel& stage, const PipelineRun& run, const std::vector<ItemSpan>& items) {
  Seconds measured{}, modelled{};
  for (const ItemSpan& item : items) {
    if (!was_measured(run, item)) continue;
    measured += item.ended - item.began;
    modelled += stage.service(item.item);
  }
  return modelled.count() > 0 ? std::abs(measured / modelled - 1) : 0;
}

double replayed_rate(const PipelineModel& pipeline, const MeasuredPart& part) {
  const auto played = replay(pipeline, {.items = kAllItems, .time = part.to, .first_item = part.first_item});
  return rate_between(played.done_at, part.from, part.to);
}

}  // namespace

MeasuredPart representative_part(const PipelineModel& pipeline, Seconds length) {
  const double expected = replay(pipeline, {.items = kLongRun}).rate();
  MeasuredPart best;
  double least = std::numeric_limits<double>::max();
  for (const double filling : {0.25, 0.5, 1.0})
    for (std::size_t draw = 0; draw < kDraws; ++draw) {
      const MeasuredPart part{filling * length, (1 + filling) * length, draw * kBetweenDraws};
      const double error = std::abs(replayed_rate(pipeline, part) / expected - 1);
      if (error < least) least = error, best = part;
      if (error < kRepresentative) return best;
    }
  return best;
}

RunFigures figures_of(const PipelineModel& pipeline, const PipelineRun& run) {
  RunFigures figures{.items_per_s = rate_between(ends_of(run.stages.back()), run.part.from, run.part.to)};
  for (std::size_t s = 0; s < run.stages.size(); ++s)
    figures.stages.push_back(figures_of_stage(pipeline.stages[s], run, run.stages[s]));
  return figures;
}

double model_error(const PipelineModel& pipeline, const PipelineRun& run) {
  const double measured = rate_between(ends_of(run.stages.back()), run.part.from, run.part.to);
  double error = measured > 0 ? std::abs(replayed_rate(pipeline, run.part) / measured - 1) : 1;
  for (std::size_t s = 0; s < run.stages.size(); ++s)
    error = std::max(error, time_error(pipeline.stages[s], run, run.stages[s]));
  return error;
}

}  // namespace tutti
