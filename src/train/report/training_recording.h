#pragma once

#include <cstdint>
#include <vector>

#include "advise/recording.h"
#include "feed/feed.h"
#include "feed/ring/ring.h"

namespace tutti {

/// What a training was, step by step, for `tutti profile`. One thread.
///
/// Steps are recorded one by one. Of the feed's stages only the sums are known, so each step has the same part of them:
/// a batch's samples, worked on by the stage's threads.
class TrainingRecording {
 public:
  /// A step took `stepping` behind a wait of `waited` for its batch. The wait before the first one is the start of the
  /// feed and does not count.
  void note(Seconds stepping, Seconds waited);
  /// A report of the feed while it is at work: how many threads each stage has.
  void note_threads(const FeedReport& feed);
  /// Whether `note_threads` has still to be called: threads that have ended are not counted.
  bool wants_threads() const { return !has_threads_ && steps_.size() >= 2; }

  /// The training as a pipeline: the feed's stages that take time, then the steps on the device behind the ring.
  RunRecording recording(const FeedReport& feed, const RingReport& ring) const;

 private:
  std::vector<Seconds> steps_{};
  Seconds elapsed_{};
  Seconds waited_{};
  PipelineReport threads_{};
  bool has_threads_ = false;
};

}  // namespace tutti
