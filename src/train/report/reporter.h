#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/error.h"
#include "device/telemetry/sampler.h"
#include "feed/bad_samples.h"
#include "metrics/event_trace.h"
#include "metrics/recording_request.h"
#include "profile/machine_watch.h"
#include "profile/recording_file.h"
#include "public/tutti/feed.h"
#include "train/report/epoch_report.h"
#include "train/report/load_track.h"
#include "train/report/machine_line.h"
#include "train/report/progress_line.h"
#include "train/report/step_monitor.h"
#include "train/report/training_log.h"
#include "train/report/training_recording.h"
#include "train/trainer.h"

namespace tutti {

struct ReporterOptions {
  std::filesystem::path out{};
  std::int64_t last_step = 0;     // step of the checkpoint that is continued; 0: a new training
  bool evaluation_due = false;    // TrainingState::evaluation_due of that checkpoint
  Seconds most_time{0};           // in which it ends whatever the steps; 0: no such end
  std::optional<int> gpu{};       // N of the network's cuda:N; none: it is on the CPU
  int cores = 0;                  // of both devices, where sets of cores are these; 0: those of the process count
  bool shares_cores = false;      // the network runs on the same cores as the feed
  std::int32_t accumulation = 1;  // batches that a step is made of
  std::int32_t log_steps = 10;
  bool log_order = false;
  LogDetail detail = LogDetail::info;  // debug: the note's line on how long steps waited for their batches, too
};

/// Reports to people and files how a training goes: the progress line, OUT/metrics.jsonl, OUT/order.jsonl, samples that
/// were refused, and at the end of every epoch a report and OUT/loss.svg. A device that has little to do is warned
/// about with the cause, and the training ends with a sentence on what limited it. One thread.
class Reporter : public TrainingWatcher {
 public:
  static Result<std::unique_ptr<Reporter>> open(const ReporterOptions& options);

  /// Where the feed's numbers come from.
  void watch_feed(std::function<FeedReport()> report) { feed_ = std::move(report); }
  /// Where the ring's numbers come from.
  void watch_ring(std::function<RingReport()> report) { ring_ = std::move(report); }
  void ended(const TrainingState& state, TrainingEnd end);

  void stepped(const StepReport& step) override;
  void evaluated(const TrainingState& state, const TaskScores& scores, bool best) override;
  void refused(const std::string& id, const std::string& why) override;
  void paused() override { at_pause_ = counts(); }
  void resumed() override;

 private:
  Reporter(ReporterOptions options, TrainingLog log, std::unique_ptr<BadSamples> bad);
  void write_line(const std::string& line);
  void trace(Seconds stepping, Seconds waited);
  void note(const StepReport& step);
  void monitor(const StepReport& step, const MachineLoad& load);
  bool is_warming_up();
  void begin_between_steps();
  void begin_with_another_ring(int depth);
  void report_epoch();
  void report_feed();
  void report_use();
  TrainingCounts counts() const;
  RunRecording recording_of(const TrainingRecording& recorded, const TrainingCounts& start) const;
  void conclude_recording();
  void draw();

  ReporterOptions options_;
  TrainingLog log_;
  std::unique_ptr<BadSamples> bad_;  // beside the feed's own, in the same file
  ProgressLine progress_;
  std::function<FeedReport()> feed_{};
  std::function<RingReport()> ring_{};
  TrainingCounts reported_{};  // as they were at the last report
  /// What there was since the last report.
  struct Epoch {
    FrameCounts frames{};
    TrainingRecording recording{};
    Seconds launched{};  // launch_time() at the start, without that of pauses
    std::int64_t samples = 0;
  };
  std::int64_t new_shapes_ = 0;  // in the steps of the epoch
  Epoch epoch_{};
  LoadTrack load_;  // load of the machine in the epoch
  const bool is_profiled_ = recording_wanted().has_value();
  int warm_up_ = is_profiled_ ? recording_request().warm_up : 0;  // steps left that are neither recorded nor reported
  TrainingCounts recorded_{};                                     // as they were when `recording_` began
  TrainingCounts at_first_end_{};                                 // as they were at the end of the first step
  TrainingCounts at_pause_{};  // as they were when an evaluation or a checkpoint began
  TrainingRecording recording_{};
  std::optional<RunRecording> kept_{};  // of an earlier depth of the ring: that with the most steps
  Settling settling_{};                 // of all earlier depths
  int depth_ = 0;                       // of the ring in the last step
  bool goes_on_ = false;                // `recording_` began between two steps, with the feed at work
  Sampler sampler_{};
  MachineLine machine_;
  StepMonitor monitor_;
  const std::unique_ptr<EventTrace::Row> row_ = EventTrace::row_of_process("training");
  std::optional<RunWatch> watch_{};  // from the end of the first step on
  Seconds processed_{};              // own_processor_time() when the step began
};

}  // namespace tutti
