#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/recording.h"
#include "feed/ring/ring.h"
#include "profile/timeline.h"
#include "public/tutti/feed.h"
#include "train/report/recorded_time.h"

namespace tutti {

/// What feed and ring had done, and what the steps' thread had lost and launched, at a moment.
struct TrainingCounts {
  FeedReport feed{};
  RingReport ring{};
  Seconds core_wait{};  ///< own_core_wait() of the steps' thread
  Seconds launched{};   ///< launch_time()
};

/// A step, or what is done on the device for a batch, as it is recorded.
struct RecordedStep {
  Seconds stepping{};
  Seconds waited{};  ///< for its batch
  Clock::Instant ended = Clock::real().now();
  std::int64_t batches = 1;  ///< that it is made of
  std::int64_t samples = 0;
  double length = 0;  ///< of its batches, in any unit; 0: not known
};

/// From so many steps on a recording shows what limits them: the first ones may find batches that were made ready
/// before.
inline constexpr std::size_t kFewestSteps = 10;

/// What a training was, step by step, for `tutti profile`. One thread.
///
/// A step has what each stage of the feed did for its own batches, as far as that was done while steps were made or
/// waited for: what was made before the recording, or during an evaluation, took the steps no time.
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

  /// The next step, whose batches were `made` before. The wait before the first one is the start of the feed and does
  /// not count, but in a recording that goes on.
  void note(RecordedStep step, const BatchTimes& made = {});
  /// Between two steps there was something else, from `before` to `after`.
  void note_pause(const TrainingCounts& before, const TrainingCounts& after);
  /// A report of the feed while it is at work: how many threads each stage has.
  void note_threads(const FeedReport& feed);
  /// Whether `note_threads` has still to be called: threads that have ended are not counted.
  bool wants_threads() const { return !has_threads_ && steps_.size() >= 2; }

  /// The training as a pipeline: the feed's stages that take time, the ring's thread that makes batches ready, then the
  /// steps on the device. `feed`: none where batches are gathered by the ring's thread itself; as `ring` since the
  /// recording's start.
  RunRecording recording(const std::optional<FeedReport>& feed, const RingReport& ring) const;
  std::size_t steps() const { return steps_.size(); }
  /// How long each step waited for its batch.
  const std::vector<Seconds>& waits() const { return waits_; }
  Seconds waiting() const { return waited_; }
  Seconds stepping() const { return elapsed_ - waited_; }
  /// What the steps' thread waited for a core, and launched, in pauses.
  Seconds paused_core_wait() const { return paused_core_wait_; }
  Seconds paused_launches() const { return paused_launches_; }
  /// Half a second or more has passed since the timeline's last interval: `note_time` goes on with it.
  bool wants_time() const { return elapsed_ - sampled_ >= Seconds(0.5); }
  /// `ring`: without a depth where batches go to the device without one.
  void note_time(const std::optional<FeedReport>& feed, const RingReport& ring);

 private:
  /// What was done for each step by a stage of the feed, or by the ring's thread.
  struct Column {
    std::string stage{};
    std::vector<Seconds> items{};
    Seconds blocked_in_pauses{};
  };

  Column& column_of(std::string_view stage);
  StepPhases phases(const RingReport& ring) const;
  PhaseTimes step_times() const;
  double batches_of_step() const;
  RecordedStage fed_stage(const StageReport& stage) const;
  RecordedStage batches(const RingReport& ring, bool has_feed) const;

  Names names_{};
  bool goes_on_ = false;
  std::vector<Seconds> steps_{};
  std::vector<double> lengths_{};
  std::vector<Seconds> waits_{};  // wait of each step for its batch
  RecordedTime time_{};
  std::vector<Column> made_{};           // by the feed's stages
  std::vector<Seconds> fetching_{};      // by the ring's thread, where it may wait for a feed
  std::vector<Seconds> transferring_{};  // likewise: to the device
  Seconds held_up_{};
  std::int64_t batches_ = 0, samples_ = 0;
  Seconds elapsed_{};
  Seconds waited_{};
  Seconds paused_core_wait_{}, paused_launches_{};
  PipelineReport threads_{};
  bool has_threads_ = false;
  TimelineRecorder timeline_{};
  Seconds sampled_{};
};

}  // namespace tutti
