#include "advise/timeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti {
namespace {

constexpr std::size_t kIntervals = 120;

/// Sums over equal intervals from 0 to `whole` seconds.
class Intervals {
 public:
  explicit Intervals(double whole) : length_(whole / static_cast<double>(kIntervals)), values_(kIntervals, 0.0) {}

  /// Adds the time of [from, to) in each of them.
  void add_time(double from, double to) {
    for (std::size_t i = index_of(from); i < kIntervals; ++i) {
      const double begin = static_cast<double>(i) * length_;
      if (begin >= to) return;
      values_[i] += std::max(0.0, std::min(to, begin + length_) - std::max(from, begin));
    }
  }
  void count(double at, double value) {
    if (at < length_ * static_cast<double>(kIntervals)) values_[index_of(at)] += value;
  }
  /// Each as the sum of all before it.
  std::vector<double> running() const {
    std::vector<double> sums = values_;
    for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
    return sums;
  }
  std::vector<double> over(double divisor) const {
    std::vector<double> shares = values_;
    for (double& share : shares) share = std::clamp(share / divisor, 0.0, 1.0);
    return shares;
  }
  double length() const { return length_; }

 private:
  std::size_t index_of(double at) const {
    return std::min(kIntervals - 1, static_cast<std::size_t>(std::max(0.0, at) / length_));
  }
  double length_;
  std::vector<double> values_;
};

}  // namespace

RunTimeline timeline_of(const PipelineModel& pipeline, const PipelineRun& run) {
  RunTimeline timeline;
  const double whole = run.part.to.count();
  if (whole <= 0) return timeline;
  const auto at = [whole](Seconds moment) { return moment == Seconds::max() ? whole : moment.count(); };
  Intervals done(whole);
  for (std::size_t s = 0; s < run.stages.size(); ++s) {
    Intervals busy(whole), queued(whole);
    for (const ItemSpan& item : run.stages[s]) {
      if (item.began != Seconds::max()) busy.add_time(at(item.began), at(item.ended));
      queued.count(at(item.handed_on), 1);
      if (s + 1 == run.stages.size()) done.count(at(item.ended), 1);
    }
    if (s + 1 < run.stages.size())
      for (const ItemSpan& item : run.stages[s + 1]) queued.count(at(item.taken), -1);
    StageTimeline& stage = timeline.stages.emplace_back();
    stage.name = pipeline.stages[s].name;
    stage.busy = busy.over(busy.length() * pipeline.stages[s].threads);
    stage.queue = s + 1 < run.stages.size() ? queued.running() : std::vector<double>(kIntervals, 0.0);
    for (double& fill : stage.queue) fill = std::clamp(fill / static_cast<double>(pipeline.stages[s].queue), 0.0, 1.0);
  }
  const auto counted = done.running();
  for (std::size_t i = 0; i < kIntervals; ++i) {
    timeline.at.push_back((static_cast<double>(i) + 1) * done.length());
    timeline.done.push_back(static_cast<std::size_t>(std::lround(counted[i])));
  }
  return timeline;
}

std::optional<double> mean_fill(const RunTimeline& timeline, std::string_view stage) {
  const auto found = std::ranges::find(timeline.stages, stage, &StageTimeline::name);
  if (found == timeline.stages.end() || found->queue.empty()) return std::nullopt;
  return std::accumulate(found->queue.begin(), found->queue.end(), 0.0) / static_cast<double>(found->queue.size());
}

}  // namespace tutti
