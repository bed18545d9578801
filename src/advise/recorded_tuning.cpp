#include "advise/recorded_tuning.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/numbers.h"

namespace tutti {
namespace {

constexpr double kWorthAnItem = 0.01;  // share of the rate that a thread, or one item more in a queue, must gain

/// What one flag sets: threads of the first stage that has them from it, or the queue behind a stage.
struct Setting {
  std::size_t stage = 0;
  bool is_queue = false;
};

std::vector<Setting> settings_of(const RunRecording& recording, const PipelineModel& pipeline) {
  std::vector<Setting> settings;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const auto has_same = [&](const Setting& it) {
      return !it.is_queue && is_set_with(pipeline.stages[it.stage], pipeline.stages[s]);
    };
    if (!pipeline.stages[s].threads_flag.empty() && std::ranges::none_of(settings, has_same)) settings.push_back({s});
    if (s + 1 < pipeline.stages.size() && !recording.stages[s].queue_flag.empty()) settings.push_back({s, true});
  }
  return settings;
}

double value_of(const PipelineModel& pipeline, const Setting& setting) {
  const StageModel& stage = pipeline.stages[setting.stage];
  return setting.is_queue ? static_cast<double>(stage.queue) : stage.threads;
}

Change change_of(const PipelineModel& pipeline, const Setting& setting, double value) {
  return {pipeline.stages[setting.stage].name, setting.is_queue ? "queue" : "threads", value};
}

double items_in_work(const PipelineModel& pipeline) {
  double items = 0;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    items += pipeline.stages[s].threads;
    if (s + 1 < pipeline.stages.size()) items += static_cast<double>(pipeline.stages[s].queue);
  }
  return items;
}

/// One recorded run, its settings and what they may come to.
class RecordedTuning {
 public:
  RecordedTuning(const RunRecording& recording, const RecordedBudget& budget)
      : before_(model_of(excerpt_of(recording))),
        settings_(settings_of(recording, before_)),
        most_threads_(budget.threads),
        most_items_(std::max(1.0, budget.growth) * items_in_work(before_)) {}

  std::vector<Change> changes() const {
    PipelineModel best = before_;
    double rate = rate_of_run(best);
    for (bool gains = true; gains;) {
      gains = false;
      double wanted = rate * (1 + kWorthAnItem);
      for (PipelineModel& next : neighbours(best))
        if (const double found = rate_of_run(next); found > wanted)
          wanted = rate = found, best = std::move(next), gains = true;
    }
    std::vector<Change> changes;
    for (const Setting& it : settings_)
      if (value_of(best, it) != value_of(before_, it)) changes.push_back(change_of(best, it, value_of(best, it)));
    return changes;
  }

 private:
  /// One more by one of the settings, or by two of them, as far as the budget allows.
  std::vector<PipelineModel> neighbours(const PipelineModel& from) const {
    std::vector<PipelineModel> all;
    for (std::size_t a = 0; a < settings_.size(); ++a)
      for (std::size_t b = a; b < settings_.size(); ++b) {
        PipelineModel next = one_more(from, settings_[a]);
        if (a != b) next = one_more(std::move(next), settings_[b]);
        if (is_allowed(next)) all.push_back(std::move(next));
      }
    return all;
  }
  static PipelineModel one_more(PipelineModel pipeline, const Setting& setting) {
    const Change more = change_of(pipeline, setting, value_of(pipeline, setting) + 1);
    return changed(std::move(pipeline), more);
  }
  bool is_allowed(const PipelineModel& pipeline) const {
    const double threads = threads_of(pipeline);
    return (threads <= most_threads_ || threads == threads_of(before_)) && items_in_work(pipeline) <= most_items_;
  }
  double threads_of(const PipelineModel& pipeline) const {
    double threads = 0;
    for (const Setting& it : settings_)
      if (!it.is_queue) threads += value_of(pipeline, it);
    return threads;
  }

  PipelineModel before_;
  std::vector<Setting> settings_;
  int most_threads_;
  double most_items_;
};

}  // namespace

Result<double> growth_within(Bytes used, Bytes allowed) {
  if (used.value <= 0 || allowed.value <= 0) return std::numeric_limits<double>::infinity();
  if (allowed < used)
    return fail(Fault::usage, "the run took " + bytes_text(used) + " already, more than " + bytes_text(allowed),
                "Allow more, or run with fewer threads");
  return static_cast<double>(allowed.value) / static_cast<double>(used.value);
}

std::vector<Change> tuned_settings(const RunRecording& recording, const RecordedBudget& budget) {
  return RecordedTuning(recording, budget).changes();
}

}  // namespace tutti
