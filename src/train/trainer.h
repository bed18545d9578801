#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "feed/bad_samples.h"
#include "train/batch_ring.h"
#include "train/checkpoint/training_folder.h"
#include "train/optimiser.h"
#include "train/optimiser_step/averages_in_place.h"
#include "train/optimiser_step/row_limit.h"
#include "train/optimiser_step/step.h"
#include "train/peers/peers.h"
#include "train/task.h"

namespace tutti {

/// One step, as reports want it.
struct StepReport {
  const TrainingState& state;
  const StepOutcome& outcome;
  const RowIds& ids;
  double rate = 0;
  std::int64_t steps = 0;  // that the training is expected to have; 0: not known
  double waited = 0;       // seconds for the feed, or for the feeds of others
  double seconds = 0;      // time of the whole step, the wait included
  BatchTimes made{};       // what was done for its batches, beside earlier steps
  bool ends_epoch = false;
};

/// An observer of a training. Called on the training thread.
class TrainingWatcher {
 public:
  virtual ~TrainingWatcher() = default;
  virtual void stepped(const StepReport& step) = 0;
  virtual void evaluated(const TrainingState& state, const TaskScores& scores, bool best) = 0;
  virtual void refused(const std::string& id, const std::string& why) = 0;
  /// An evaluation or a checkpoint begins, and ends: what is done between is no part of a step.
  virtual void paused() {}
  virtual void resumed() {}
};

struct TrainerOptions {
  std::filesystem::path out{};
  RateSchedule schedule{};  // without steps of its own, those that are expected
  TrainingLength length{};
  std::int64_t max_steps = 0;  // 0: until the feed ends
  std::int32_t accumulation = 1;
  std::int32_t save_steps = 0;  // 0: at the end of epochs alone
  std::int32_t eval_steps = 0;  // likewise
  std::int32_t keep = 2;
  std::int32_t patience = 0;  // evaluations without progress that end the training; 0: never
  std::int32_t bad_step_limit = 10;
  BadSampleLimits refused{};  // how many samples of the feed the task may refuse: more end the training
  Seconds max_time{};         // time limit of this run; 0: no end by time
  std::string evaluator{};    // names what evaluations are by: what another evaluator found best is not
  std::string export_type = "float16";
  std::string settings{};   // kept in every checkpoint, as training.toml; empty: not there
  BatchRingOptions ring{};  // in_step is `accumulation`
};

/// What a trainer works with, all owned by the caller.
struct TrainerParts {
  Task& task;
  TrainStep& step;
  NextBatch next;  // goes on behind TrainingState::position
  /// Evaluates the weights as they are; empty: never. Fault::cancelled where an interruption cut it short: the resumed
  /// training makes up for it.
  std::function<Result<TaskScores>()> evaluate{};
  std::function<bool()> interrupted{};
  TrainingWatcher& watcher;
  Peers* peers = nullptr;  // who train along; the first of them evaluates and writes
};

enum class TrainingEnd { finished, no_progress, interrupted };

/// The loop of a training: batches to steps, steps to checkpoints and evaluations, until the end, an interruption or a
/// reason to give up. One thread, one that prepares batches ahead, and one that writes.
class Trainer {
 public:
  /// Begins to fetch batches. `state`: a fresh one, or that of the checkpoint which the parts hold
  /// (restore_checkpoint).
  Trainer(TrainerParts parts, TrainerOptions options, TrainingState state);

  Result<TrainingEnd> run();
  const TrainingState& state() const { return state_; }
  RingReport ring() const { return ring_.report(); }

 private:
  struct Group {
    std::vector<TaskBatch> batches{};
    std::vector<DeviceRing::Slot> slots{};
    RowIds ids{};
    BatchTimes made{};
    std::int64_t epoch = 0;
  };
  Result<void> look_ahead();
  Result<std::int64_t> next_epoch();
  Result<Group> collect(std::int64_t epoch);
  Result<void> count_refused(const TaskBatch& batch);
  Result<std::int64_t> take_step(Group& group);
  double next_rate() const;
  void report(const Group& group, const StepOutcome& outcome, double rate, double stepping, bool ends_epoch);
  Result<void> count_left_out(const StepOutcome& outcome, const Group& group);
  bool is_over();
  bool is_interrupted() const { return parts_.interrupted && parts_.interrupted(); }
  bool is_first() const { return !parts_.peers || parts_.peers->rank() == 0; }
  std::vector<std::string> all_gather(const std::string& value);
  bool any_rank(bool own);
  Result<TaskScores> evaluated(std::optional<AveragesInPlace>& averages);
  Result<double> score(std::optional<AveragesInPlace>& averages);
  Result<void> evaluate();
  Result<void> evaluate_step(bool keeps);
  Result<void> run_due_evaluation();
  bool gives_up() const { return options_.patience > 0 && state_.without_progress >= options_.patience; }
  Result<void> save();
  void keep_row_limit(const RowLimit& before);
  void restore_policy();
  void disable_evaluation();
  tl::unexpected<Error> end_with(Error why);
  tl::unexpected<Error> give_up(Error why);
  void note_positions();
  Result<void> run_due_work(bool ends_epoch);
  std::optional<Result<TrainingEnd>> after_step(std::int64_t next);
  Result<TrainingEnd> finish(TrainingEnd end);

  TrainerParts parts_;
  TrainerOptions options_;
  TrainingState state_;
  TrainingFolder folder_;
  std::string position_{};  // behind the last batch used
  RowLimit kept_limit_{};   // row limit of the checkpoint, where there is no more memory than then
  double waited_ = 0;       // for the feeds, since the last step
  Clock::Instant begun_;
  std::int64_t saved_step_ = 0;
  bool cannot_evaluate_ = false;  // the first process: all of them end, each by itself
  bool has_lost_peers_ = false;   // one of them failed or is gone: no collective call may be made any more
  std::unique_ptr<BadSamples> refused_;
  BatchRing ring_;
  std::optional<RingBatch> ahead_{};  // fetched, not used yet: what comes next shows where an epoch ends
};

}  // namespace tutti
