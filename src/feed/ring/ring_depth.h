#pragma once

#include <deque>
#include <span>

#include "advise/pipeline_model.h"
#include "base/units.h"

namespace tutti {

/// A ring of `depth` slots as a pipeline for advise's replay: one thread fetches batches (`reads` long each) and puts
/// each in a free slot; a step (`steps` long each) takes the oldest and frees its slot at its end. The last of `steps`
/// counts for all further reads. Neither is empty.
PipelineModel ring_model(std::span<const Seconds> reads, std::span<const Seconds> steps, int depth);

/// Use of the device, as MLPerf Storage counts it: time in steps over all time. By a replay of the ring. Pure.
double ring_utilisation(std::span<const Seconds> reads, std::span<const Seconds> steps, int depth);

/// Chooses how many slots a ring should have from what it sees: the fewest with which the batches of late would have
/// kept the device as busy as `most_depth` slots would, to within a hundredth. Not thread-safe.
class RingTuner {
 public:
  /// `most_depth`: what memory allows.
  explicit RingTuner(int most_depth) : most_depth_(most_depth) {}

  /// Memory allows another number of slots from now on.
  void allow(int most_depth) { most_depth_ = most_depth; }

  /// A batch took `read` to fetch, and the step after the one before it `step`.
  void note(Seconds read, Seconds step);
  /// The depth after at least 64 batches; before, and where nothing ever stalls, `least`.
  int advised(int least) const;

  static constexpr std::size_t kRemembered = 1024;

 private:
  int most_depth_;
  std::deque<Seconds> reads_{};
  std::deque<Seconds> steps_{};
};

}  // namespace tutti
