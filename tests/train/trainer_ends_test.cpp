// Trainings that end before their last step: their messages, what they keep, and how they resume.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/files.h"
#include "small_training.h"
#include "support/closed_folder.h"
#include "support/eventually.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

TEST(TrainerEnds, RepeatedNonFiniteStepsStopNamingTheSamples) {
  const TempFolder out;
  Training training(out.path());
  training.options.bad_step_limit = 2;
  training.spoil = [](Batch& batch) { batch.row(1)[3] = std::nanf(""); };
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().what.find("sample-"), std::string::npos) << end.error().what;
  EXPECT_EQ(training.watcher.steps.size(), 3);
}

TEST(TrainerEnds, GivingUpKeepsTheFiniteStepsBesideTheCheckpoint) {
  constexpr std::int64_t kFirstBad = 24, kFirstGood = 36;  // the seventh to the ninth step
  const TempFolder whole, out;
  Training straight(whole.path());
  straight.options.max_steps = 6;
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  const auto spoil = [](Batch& batch) {
    if (batch.index >= kFirstBad && batch.index < kFirstGood) batch.row(1)[3] = std::nanf("");
  };
  Training training(out.path());
  training.options.bad_step_limit = 2;
  training.spoil = spoil;
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().hint.find((out / "checkpoints/stopped-step-00000009").string()), std::string::npos)
      << end.error().text();
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000005", "stopped-step-00000009"}));
  EXPECT_TRUE(read_file(out / "checkpoints/stopped-step-00000009/model.safetensors").value() ==
              read_file(whole / "checkpoints/step-00000006/model.safetensors").value())
      << "no step that was left out has changed it";
  Training unasked(out.path());
  unasked.options.max_steps = 6;
  ASSERT_EQ(unasked.run(), TrainingEnd::finished);
  EXPECT_EQ(unasked.first_step, 5) << "it may be the network that is wrong";
  fs::rename(out / "checkpoints/stopped-step-00000009", out / "checkpoints/step-00000009");
  Training targets(out.path());
  targets.options.bad_step_limit = 2;
  targets.options.max_steps = 10;
  targets.spoil = spoil;
  ASSERT_EQ(targets.run(), TrainingEnd::finished);
  EXPECT_EQ(targets.watcher.steps, std::vector<std::int64_t>{10}) << "behind the samples";
}

TEST(TrainerEnds, GivesUpWithoutPlainCheckpointAlsoWhenFeedFails) {
  const TempFolder out;
  Training training(out.path());
  training.options.bad_step_limit = 2;
  training.spoil = [](Batch& batch) {
    if (batch.index >= 24) batch.row(1)[3] = std::nanf("");
  };
  training.fails_from = 36;  // behind the ninth step
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().what.find("3 in a row"), std::string::npos) << end.error().text();
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000005", "stopped-step-00000009"}));
}

TEST(TrainerEnds, ResumeAfterBadSamplesHasTheFullLimitAgain) {
  const TempFolder out;
  const auto run = [&](std::int64_t steps) {
    Training training(out.path());
    training.options.bad_step_limit = 2;
    training.options.max_steps = steps;
    training.spoil = [](Batch& batch) {
      if (batch.index < 16) batch.row(1)[3] = std::nanf("");  // the first four steps
    };
    return training.run();
  };
  const auto end = run(6);
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().hint.find("no checkpoint before them, resume starts again"), std::string::npos)
      << end.error().text();
  ASSERT_EQ(checkpoints_in(out.path()), std::vector<fs::path>{"stopped-step-00000003"});
  fs::rename(out / "checkpoints/stopped-step-00000003", out / "checkpoints/step-00000003");
  const auto behind = run(6);
  EXPECT_EQ(behind, TrainingEnd::finished) << "the fourth step is the first bad one behind them";
}

/// The other ranks do the same as this one, and are gone as soon as none is waited for.
class LikePeers : public Peers {
 public:
  LikePeers(int rank, fs::path kept) : rank_(rank), kept_(std::move(kept)) {}
  int rank() const override { return rank_; }
  int ranks() const override { return 2; }
  void sum(at::Tensor& tensor) override { tensor.mul_(2); }
  std::vector<std::string> gather(const std::string& output) override { return {output, output}; }
  Result<void> run_and_wait(const std::string& doing, const std::function<Result<void>()>& work) override {
    const auto done = work();
    if (doing != "keeps what was learned") return done;
    ++waits;
    EXPECT_EQ(fs::exists(kept_), rank_ == 0) << "the first failure ends all ranks";
    return done;
  }
  int waits = 0;

 private:
  int rank_;
  fs::path kept_;
};

TEST(TrainerEnds, NoRankEndsBeforeRankZeroHasWrittenItsCheckpoint) {
  for (const int rank : {0, 1}) {
    const TempFolder out;
    const auto kept = out / "checkpoints/stopped-step-00000003";
    LikePeers peers(rank, kept);
    Training training(out.path());
    training.peers = &peers;
    training.options.bad_step_limit = 2;
    training.spoil = [](Batch& batch) { batch.row(1)[3] = std::nanf(""); };
    const auto end = training.run();
    ASSERT_FALSE(end);
    EXPECT_NE(end.error().hint.find(kept.string()), std::string::npos) << end.error().text();
    EXPECT_EQ(peers.waits, 1) << rank;
  }
}

TEST(TrainerEnds, FailedEvaluationWritesCheckpointBeforeAnyRankEnds) {
  for (const int rank : {0, 1}) {
    const TempFolder out;
    LikePeers peers(rank, out / "checkpoints/step-00000002");
    Training training(out.path());
    training.peers = &peers;
    training.options.eval_steps = 2;
    training.evaluate = []() -> Result<TaskScores> { return fail(Fault::missing, "the set is gone"); };
    const auto end = training.run();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().what, rank == 0 ? "the set is gone" : "the first process could not evaluate the network");
    EXPECT_EQ(peers.waits, 1) << rank;
  }
}

/// Whose device is gone, so that nothing can be copied from it any more.
class LostTask : public Task {
 public:
  explicit LostTask(Task& whole) : whole_(whole) {}
  const std::vector<Parameter>& trained() const override { return whole_.trained(); }
  at::Device device() const override { return whole_.device(); }
  TaskBatch prepare(const Batch& batch) override { return whole_.prepare(batch); }
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override {
    return whole_.loss_sum(inputs, dropout);
  }
  std::map<std::string, std::string> files(const std::string& type) const override { return whole_.files(type); }
  std::vector<Parameter> weights() const override { throw std::runtime_error("CUDA error: unspecified failure"); }

 private:
  Task& whole_;
};

TEST(TrainerEnds, FeedFailureIsReportedEvenIfTheCheckpointFails) {
  const TempFolder out;
  Training training(out.path());
  training.fails_from = 8;
  LostTask lost(*training.task);
  Trainer trainer(
      {.task = lost, .step = training.step, .next = training.spoiled(batches_behind("")), .watcher = training.watcher},
      training.options, {});
  const LogCapture log;
  const auto end = trainer.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().what, "the disk is gone");
  EXPECT_EQ(log.count("is lost: the checkpoint could not be written"), 1);
}

TEST(TrainerEnds, DueEvaluationRunsAfterResumeFromAFeedFailure) {
  struct Case {
    std::int32_t eval_steps = 0;
    std::int64_t due = 0;  // the step behind which the feed fails
  };
  for (const auto& [eval_steps, due] : {Case{2, 2}, Case{0, 5}}) {  // by number, and at the end of an epoch
    const auto scored = [eval_steps = eval_steps, due = due](Training& training) {
      training.options.max_steps = 7;
      training.options.eval_steps = eval_steps;
      training.restore_best_at(due);
    };
    const TempFolder whole, parts;
    Training straight(whole.path());
    scored(straight);
    ASSERT_EQ(straight.run(), TrainingEnd::finished);
    Training first(parts.path());
    scored(first);
    first.fails_from = 4 * due;
    ASSERT_FALSE(first.run());
    Training second(parts.path());
    scored(second);
    ASSERT_EQ(second.run(), TrainingEnd::finished);
    auto bests = first.watcher.bests;
    bests.insert(bests.end(), second.watcher.bests.begin(), second.watcher.bests.end());
    EXPECT_EQ(bests, straight.watcher.bests) << due;
    EXPECT_TRUE(read_file(parts / "model/model.safetensors").value() ==
                read_file(whole / "model/model.safetensors").value())
        << due;
  }
}

TEST(TrainerEnds, KillDuringEvaluationLosesNoStepAndEvaluatesOnResume) {
  struct Case {
    std::int32_t every = 0;  // evaluates and saves every so many steps
    std::int64_t scored = 0;
    std::int64_t last = 0;
  };
  // At the end of an epoch, where an evaluation and a checkpoint fall together, and at the end of the training.
  for (const auto& [every, scored, last] : {Case{0, 5, 7}, Case{2, 2, 7}, Case{100, 3, 3}}) {
    const auto set = [every = every, scored = scored, last = last](Training& training) {
      training.options.eval_steps = training.options.save_steps = every;
      training.options.max_steps = last;
      training.restore_best_at(scored);
    };
    const TempFolder whole, killed;
    Training straight(whole.path());
    set(straight);
    straight.evaluate = [&, evaluator = straight.evaluate, scored = scored] {
      if (std::ssize(straight.watcher.steps) == scored) {
        eventually([&] { return fs::exists(CheckpointFolder(whole.path()).of_step(scored)); });
        fs::copy(whole.path(), killed.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
      }
      return evaluator();
    };
    ASSERT_EQ(straight.run(), TrainingEnd::finished);
    Training again(killed.path());
    set(again);
    ASSERT_EQ(again.run(), TrainingEnd::finished);
    EXPECT_EQ(again.first_step, scored);
    EXPECT_EQ(again.watcher.bests, straight.watcher.bests) << scored;
    EXPECT_TRUE(read_file(killed / "model/model.safetensors").value() ==
                read_file(whole / "model/model.safetensors").value())
        << scored;
  }
}

TEST(TrainerEnds, CheckpointFailedBeforeEvaluationIsWrittenAfterIt) {
  const TempFolder out;
  const auto checkpoints = out / "checkpoints";
  fs::create_directory(checkpoints);
  std::optional<ClosedFolder> closed(std::in_place, checkpoints);
  LogCapture log;
  Training training(out.path());
  training.options.max_steps = 2;
  training.evaluate = [&]() -> Result<TaskScores> {
    log.wait_for(".new-step-00000002");
    closed.reset();
    return scored_by(0.5);
  };
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  Training again(out.path());
  const auto state = restore_checkpoint(checkpoints / "step-00000002", *again.task, again.step);
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(state->evaluated_step, 2);
}

TEST(TrainerEnds, FeedFailureKeepsStepsAndResumeTakesEachSampleOnce) {
  const TempFolder whole;
  Training straight(whole.path());
  straight.options.accumulation = 2;
  straight.options.max_steps = 4;
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  // Behind the first step, and when the second has one of its two batches.
  for (const std::int64_t index : {8, 12}) {
    const TempFolder out;
    Training training(out.path());
    training.options.accumulation = 2;
    training.fails_from = index;
    const auto end = training.run();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().what, "the disk is gone");
    EXPECT_EQ(checkpoints_in(out.path()), std::vector<fs::path>{"step-00000001"}) << index;
    Training again(out.path());
    again.options.accumulation = 2;
    again.options.max_steps = 4;
    ASSERT_EQ(again.run(), TrainingEnd::finished);
    EXPECT_TRUE(read_file(out / "model/model.safetensors").value() ==
                read_file(whole / "model/model.safetensors").value())
        << index;
  }
}

}  // namespace
}  // namespace tutti
