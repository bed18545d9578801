#include "profile/timeline.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "profile/recording_file.h"

namespace tutti {
namespace {

constexpr std::size_t kMostIntervals = 2048;
constexpr std::chrono::milliseconds kEvery{500};

double filled_share(const QueueLevel& level) {
  if (level.limits.items == 0 || level.limits.items == kUnlimited) return 0;
  return std::min(1.0, static_cast<double>(level.items) / static_cast<double>(level.limits.items));
}

/// Every second value: the later one of two.
template <class T>
void keep_later(std::vector<T>& values) {
  std::vector<T> kept;
  for (std::size_t i = 1; i < values.size(); i += 2) kept.push_back(values[i]);
  values = std::move(kept);
}

}  // namespace

std::vector<PhaseSample> phases_of(const std::vector<StageReport>& stages) {
  std::vector<PhaseSample> phases;
  for (const StageReport& stage : stages) phases.push_back({times_of(stage), filled_share(stage.output)});
  return phases;
}

void TimelineRecorder::sample(double at, std::size_t done, const std::vector<PhaseSample>& phases) {
  if (before_.empty()) {
    for (const PhaseSample& phase : phases) timeline_.stages.push_back({.name = phase.times.name});
    before_ = phases;
    before_at_ = at;
    for (PhaseSample& phase : before_) phase.times = {};
    if (at <= 0) return;
  } else if (at - before_at_ < least_gap_) {
    return;
  }
  timeline_.at.push_back(at);
  timeline_.done.push_back(done);
  for (std::size_t s = 0; s < std::min(phases.size(), timeline_.stages.size()); ++s) {
    const PhaseTimes passed = phases[s].times.since(before_[s].times);
    timeline_.stages[s].busy.push_back(passed.share(passed.busy));
    timeline_.stages[s].queue.push_back(phases[s].queue);
  }
  before_ = phases;
  before_at_ = at;
  if (timeline_.at.size() >= kMostIntervals) halve();
}

void TimelineRecorder::halve() {
  const double whole = timeline_.at.back();
  for (StageTimeline& stage : timeline_.stages) {
    for (std::size_t i = 1; i < stage.busy.size(); i += 2) stage.busy[i] = (stage.busy[i] + stage.busy[i - 1]) / 2;
    keep_later(stage.busy);
    keep_later(stage.queue);
  }
  keep_later(timeline_.at);
  keep_later(timeline_.done);
  least_gap_ = 0.9 * whole / static_cast<double>(timeline_.at.size());
}

nlohmann::ordered_json timeline_json(const RunTimeline& timeline) {
  nlohmann::ordered_json json{{"at", timeline.at}, {"done", timeline.done}, {"stages", nlohmann::json::array()}};
  for (const StageTimeline& stage : timeline.stages)
    json["stages"].push_back({{"name", stage.name}, {"busy", stage.busy}, {"queue", stage.queue}});
  return json;
}

TimelineSampler::TimelineSampler(std::function<PipelineReport()> report) : report_(std::move(report)) {
  if (recording_wanted()) thread_ = std::make_unique<PeriodicThread>(kEvery, [this] { sample(); });
}

void TimelineSampler::sample() {
  const PipelineReport report = report_();
  const double at = Seconds(Clock::real().now() - start_).count();
  const std::size_t done = report.stages.empty() ? 0 : report.stages.back().items_in;
  recorder_.with([&](TimelineRecorder& it) { it.sample(at, done, phases_of(report.stages)); });
}

RunTimeline TimelineSampler::stop() {
  if (!thread_) return {};
  thread_.reset();
  sample();
  return recorder_.with([](const TimelineRecorder& it) { return it.timeline(); });
}

}  // namespace tutti
