#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/recording.h"
#include "feed/feed.h"
#include "feed/ring/ring.h"
#include "profile/timeline.h"

namespace tutti {

/// What feed and ring had done, and how long the steps' thread had waited for a core, when a recording began.
struct RecordingStart {
  FeedReport feed{};
  RingReport ring{};
  Seconds core_wait{};  ///< own_core_wait() of the steps' thread
};

/// What a training was, step by step, for `tutti profile`. One thread.
///
/// Steps are recorded one by one. Of the feed's stages only the sums are known, so each step has the same part of them:
/// a batch's samples, worked on by the stage's threads. What a stage had worked ahead when the recording began takes it
/// no time.
class TrainingRecording {
 public:
  /// What is recorded: the command, what an item is, and what is done on the device. The names are literals.
  struct Names {
    const char* command = "train";
    const char* unit = "steps";
    const char* step = "step";
  };
  TrainingRecording() = default;
  /// `goes_on`: the feed was at work before, so that the first wait counts, too.
  explicit TrainingRecording(Names names, bool goes_on = false) : names_(names), goes_on_(goes_on) {}

  /// A step took `stepping` behind a wait of `waited` for its batch, which was `made` in the ring before. The wait
  /// before the first one is the start of the feed and does not count, but in a recording that goes on.
  void note(Seconds stepping, Seconds waited, const BatchTimes& made = {});
  /// A report of the feed while it is at work: how many threads each stage has.
  void note_threads(const FeedReport& feed);
  /// Whether `note_threads` has still to be called: threads that have ended are not counted.
  bool wants_threads() const { return !has_threads_ && steps_.size() >= 2; }

  /// The training as a pipeline: the feed's stages that take time, the ring's thread that makes batches ready, then the
  /// steps on the device. `feed`: none where batches are gathered by the ring's thread itself; as `ring` since `start`.
  RunRecording recording(const std::optional<FeedReport>& feed, const RingReport& ring,
                         const RecordingStart& start = {}) const;
  std::size_t steps() const { return steps_.size(); }
  /// How long each step waited for its batch.
  const std::vector<Seconds>& waits() const { return waits_; }
  Seconds waiting() const { return waited_; }
  Seconds stepping() const { return elapsed_ - waited_; }
  /// Half a second or more has passed since the timeline's last interval: `note_time` goes on with it.
  bool wants_time() const { return elapsed_ - sampled_ >= Seconds(0.5); }
  /// `ring`: without a depth where batches go to the device without one.
  void note_time(const std::optional<FeedReport>& feed, const RingReport& ring);

 private:
  StepPhases phases(const RingReport& ring) const;
  PhaseTimes step_times() const;
  RecordedStage batches(const RingReport& ring, bool has_feed, int ready) const;
  std::vector<Seconds> items_of(const StageReport& stage, const FeedReport& feed, const RingReport& ring,
                                const RecordingStart& start) const;

  Names names_{};
  bool goes_on_ = false;
  std::vector<Seconds> steps_{};
  Seconds elapsed_{};
  Seconds waited_{};
  std::vector<Seconds> waits_{};    // wait of each step for its batch
  std::vector<BatchTimes> made_{};  // what the ring took for it
  PipelineReport threads_{};
  bool has_threads_ = false;
  TimelineRecorder timeline_{};
  Seconds sampled_{};
};

}  // namespace tutti
