#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "advise/timeline.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "flow/report.h"
#include "metrics/phase_times.h"

namespace tutti {

/// A phase of a run at a moment: its times until then, and what is in the queue behind it.
struct PhaseSample {
  PhaseTimes times{};
  double queue = 0;  ///< filled share of the queue, 0 to 1; 0 without one
};

/// The stages of a pipeline as phases.
std::vector<PhaseSample> phases_of(const std::vector<StageReport>& stages);

/// Makes a timeline of the reports of a pipeline's clocks. However long the run, it keeps 2,048 intervals at most: then
/// two become one, and later ones are twice as long. One thread.
class TimelineRecorder {
 public:
  /// A report of `at` seconds after the start, by when `done` items were done. Phases are those of the first report.
  void sample(double at, std::size_t done, const std::vector<PhaseSample>& phases);

  const RunTimeline& timeline() const { return timeline_; }

 private:
  void halve();

  RunTimeline timeline_{};
  std::vector<PhaseSample> before_{};
  double before_at_ = 0;
  double least_gap_ = 0;  // seconds; nothing closer to the sample before is kept
};

/// As an object: at (seconds), done, and stages with name, busy and queue.
nlohmann::ordered_json timeline_json(const RunTimeline& timeline);

/// Samples a pipeline twice a second, on a thread of its own, from its construction until `stop`. What the last stage
/// takes in counts as done. Where `tutti profile` wants no recording it does nothing.
class TimelineSampler {
 public:
  /// `report` is called by that thread and must stay valid until `stop`.
  explicit TimelineSampler(std::function<PipelineReport()> report);

  /// Ends the sampling, with a last sample of now, and returns what there was.
  RunTimeline stop();

 private:
  void sample();

  std::function<PipelineReport()> report_;
  const Clock::Instant start_ = Clock::real().now();
  Guarded<TimelineRecorder> recorder_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

}  // namespace tutti
