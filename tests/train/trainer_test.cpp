#include "train/trainer.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "small_training.h"
#include "support/temp_folder.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

TEST(Trainer, ResumedTrainingEndsInTheSameBitsAsUninterrupted) {
  const TempFolder whole, parts;
  Training straight(whole.path());
  straight.options.max_steps = 17;
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  // Stopped in mid-epoch, then lost behind its last checkpoint, then continued twice.
  Training first(parts.path());
  first.options.max_steps = 7;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  Training second(parts.path());
  second.options.max_steps = 12;
  ASSERT_EQ(second.run(), TrainingEnd::finished);
  EXPECT_EQ(second.first_step, 7);
  fs::remove_all(parts.path() / "checkpoints/step-00000012");
  Training third(parts.path());
  third.options.max_steps = 17;
  ASSERT_EQ(third.run(), TrainingEnd::finished);
  EXPECT_EQ(third.first_step, 10);  // the end of an epoch
  EXPECT_EQ(largest_difference(third.task->weights(), straight.task->weights()), 0);
  for (const char* file : {"model/model.safetensors", "checkpoints/step-00000017/training.safetensors"})
    EXPECT_EQ(read_file(parts.path() / file).value(), read_file(whole.path() / file).value()) << file;
}

TEST(Trainer, DepthOfTheRingChangesNoBit) {
  const TempFolder usual, deep;
  Training first(usual.path());
  first.options.max_steps = 11;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  Training second(deep.path());
  second.options.max_steps = 11;
  second.options.ring = {.depth = 7, .most_depth = 64, .memory = Bytes{1 << 20}};
  ASSERT_EQ(second.run(), TrainingEnd::finished);
  const char* file = "checkpoints/step-00000011/training.safetensors";
  EXPECT_EQ(read_file(deep.path() / file).value(), read_file(usual.path() / file).value());
}

TEST(Trainer, AuxiliaryHeadIsInCheckpointsButNotInTheModel) {
  auto recipe = restless_recipe();
  recipe.learning.ctc_weight = 0.5;
  const TempFolder whole, parts;
  Training straight(whole.path(), recipe);
  straight.options.max_steps = 6;
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  Training first(parts.path(), recipe);
  first.options.max_steps = 3;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  Training second(parts.path(), recipe);
  second.options.max_steps = 6;
  ASSERT_EQ(second.run(), TrainingEnd::finished);
  EXPECT_EQ(second.first_step, 3);
  EXPECT_EQ(largest_difference(second.task->trained(), straight.task->trained()), 0);
  EXPECT_EQ(read_file(parts.path() / "model/model.safetensors").value().find("ctc."), std::string::npos);
}

TEST(Trainer, RateEndsWithTheLastRecordingAlsoWhenCut) {
  const TempFolder out;
  Training training(out.path());
  training.options.schedule = {.shape = RateSchedule::Shape::linear, .peak = 1e-2};
  training.options.length = {.least = 5, .recordings = 20};  // batches of four, if nothing were cut
  training.options.max_steps = 20;
  training.spoil = [](Batch& batch) {
    for (std::size_t i = 0; i < 4; ++i) batch.samples[i].begins = i == 0;
  };
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  ASSERT_EQ(training.watcher.rates.size(), 20U);
  EXPECT_NEAR(training.watcher.rates[10], 0.5e-2, 1e-9);
  EXPECT_NEAR(training.watcher.rates[19], 0.05e-2, 1e-9);
  EXPECT_EQ(read_state(read_file(out / "checkpoints/step-00000020/training.json").value()).value().recordings, 20);
}

TEST(Trainer, TimeLimitEndsTheTrainingResumably) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_time = Seconds(1e-9);
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  EXPECT_TRUE(training.watcher.steps.empty()) << "it was over before the first step";
  Training again(out.path());
  again.options.max_steps = 2;
  ASSERT_EQ(again.run(), TrainingEnd::finished);
  EXPECT_EQ(again.watcher.steps.size(), 2U);
}

TEST(Trainer, InterruptionSavesACheckpointAndResumes) {
  const TempFolder out;
  Training training(out.path());
  training.interrupted = [&] { return training.watcher.steps.size() == 3; };
  ASSERT_EQ(training.run(), TrainingEnd::interrupted);
  EXPECT_EQ(checkpoints_in(out.path()), std::vector<fs::path>{"step-00000003"});
  EXPECT_FALSE(fs::exists(out.path() / "model"));
  Training again(out.path());
  again.options.max_steps = 5;
  ASSERT_EQ(again.run(), TrainingEnd::finished);
  EXPECT_EQ(again.watcher.steps, (std::vector<std::int64_t>{4, 5}));
}

TEST(Trainer, AnEvaluationThatIsCutShortIsMadeUpForByTheResumedTraining) {
  // The score of the current weights; the fourth step's are the best.
  const auto scored = [](Training& training) {
    training.options.eval_steps = 2;
    training.options.max_steps = 6;
    training.restore_best_at(4);
  };
  const TempFolder whole, parts;
  Training straight(whole.path());
  scored(straight);
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  Training first(parts.path());
  scored(first);
  first.interrupted = [&] { return first.watcher.steps.size() == 4; };
  first.evaluate = [&, evaluator = first.evaluate]() -> Result<TaskScores> {
    if (first.interrupted()) return fail(Fault::cancelled, "interrupted");
    return evaluator();
  };
  ASSERT_EQ(first.run(), TrainingEnd::interrupted);
  Training second(parts.path());
  scored(second);
  ASSERT_EQ(second.run(), TrainingEnd::finished);
  EXPECT_EQ(first.watcher.bests, std::vector<bool>{true});
  EXPECT_EQ(second.watcher.bests, (std::vector<bool>{true, false})) << "of step 4, made up for, and of step 6";
  EXPECT_EQ(read_file(parts.path() / "model/model.safetensors").value(),
            read_file(whole.path() / "model/model.safetensors").value());
}

TEST(Trainer, InterruptedLastEvaluationLeavesTrainingUnfinished) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 2;
  training.evaluate = []() -> Result<TaskScores> { return fail(Fault::cancelled, "interrupted"); };
  EXPECT_EQ(training.run(), TrainingEnd::interrupted);
  EXPECT_FALSE(fs::exists(out.path() / "model"));
  Training again(out.path());
  again.options.max_steps = 2;
  again.evaluate = []() -> Result<TaskScores> { return scored_by(0.5); };
  EXPECT_EQ(again.run(), TrainingEnd::finished);
  EXPECT_TRUE(fs::exists(out.path() / "model/model.safetensors"));
}

TEST(Trainer, DueEvaluationIsDroppedWithoutAnEvaluator) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 2;
  training.evaluate = []() -> Result<TaskScores> { return fail(Fault::cancelled, "interrupted"); };
  ASSERT_EQ(training.run(), TrainingEnd::interrupted);
  Training again(out.path());
  again.options.max_steps = 3;
  EXPECT_EQ(again.run(), TrainingEnd::finished);
  EXPECT_EQ(again.watcher.steps, std::vector<std::int64_t>{3});
}

TEST(Trainer, KeepsTheNewestCheckpointsAndTheBest) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 10;
  training.options.save_steps = 2;
  training.options.eval_steps = 2;
  training.options.keep = 2;
  training.evaluate = [n = 0]() mutable -> Result<TaskScores> { return scored_by(++n == 2 ? 0.1 : 0.5 + 0.01 * n); };
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  EXPECT_EQ(training.watcher.bests, (std::vector<bool>{true, true, false, false, false}));
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000004", "step-00000008", "step-00000010"}));
}

TEST(Trainer, OutOfMemoryInEvaluationKeepsTheCheckpoint) {
  const TempFolder out;
  Training training(out.path());
  training.options.eval_steps = 3;
  training.evaluate = []() -> Result<TaskScores> {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "tried to allocate 20 GiB");
  };
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::exhausted);
  EXPECT_NE(end.error().what.find("could not be evaluated, memory ran out: tried to allocate 20 GiB"),
            std::string::npos)
      << end.error().what;
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000003"}));
}

/// Two processes, of which the first is gone when the network is to be evaluated.
class LostPeers : public Peers {
 public:
  int rank() const override { return 1; }
  int ranks() const override { return 2; }
  void sum(at::Tensor&) override {}
  std::vector<std::string> gather(const std::string& output) override {
    EXPECT_FALSE(are_lost_) << "it would be waited for";
    return {output, output};
  }
  Result<void> run_and_wait(const std::string&, const std::function<Result<void>()>&) override {
    are_lost_ = true;
    return fail(Fault::device, "process 0 of 2 is gone");
  }

 private:
  bool are_lost_ = false;
};

TEST(Trainer, LostRankIsNotContactedAgain) {
  const TempFolder out;
  LostPeers peers;
  Training training(out.path());
  training.peers = &peers;
  training.options.eval_steps = training.options.save_steps = 2;
  training.evaluate = []() -> Result<TaskScores> { return scored_by(0); };
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().what, "process 0 of 2 is gone");
  EXPECT_EQ(training.watcher.steps.size(), 2U);
}

TEST(Trainer, EndsWhereEvaluationsBringNoProgressAnyMore) {
  const TempFolder out;
  Training training(out.path());
  training.options.eval_steps = 2;
  training.options.patience = 3;
  training.evaluate = []() -> Result<TaskScores> { return scored_by(0.5); };
  ASSERT_EQ(training.run(), TrainingEnd::no_progress);
  EXPECT_EQ(training.watcher.steps.size(), 8);  // the first evaluation is the best, three more bring nothing
}

TEST(Trainer, SampleWhoseTextDoesNotFitIsReportedAndSkipped) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 1;
  training.spoil = [](Batch& batch) { batch.samples[1].text = std::string(100, 'x'); };
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  EXPECT_EQ(training.watcher.refusals, std::vector<std::string>{"sample-1"});
  EXPECT_EQ(training.watcher.samples, 3);
}

/// Texts too long for any row.
void spoil_all(Batch& batch) {
  for (auto& sample : batch.samples) sample.text = std::string(100, 'x');
}

TEST(Trainer, ATrainingOfWhichNoSampleCouldBeUsedIsAnError) {
  const TempFolder out;
  Training training(out.path());
  training.epochs = 1;
  training.spoil = spoil_all;
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::corrupt);
  EXPECT_FALSE(fs::exists(out / "model"));
}

TEST(Trainer, ASetOfWhichTooManyAreRefusedEndsTheTraining) {
  const TempFolder out;
  Training training(out.path());
  training.options.refused = {.count = 2};
  training.spoil = [](Batch& batch) { batch.samples[1].text = std::string(100, 'x'); };
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::corrupt);
  EXPECT_NE(end.error().what.find("3 of 12 samples are bad"), std::string::npos) << end.error().what;
  EXPECT_EQ(training.watcher.steps.size(), 2U);
}

TEST(Trainer, InterruptionStopsEvenIfNoSampleIsUsable) {
  const TempFolder out;
  Training training(out.path());
  training.epochs = 3;
  training.spoil = spoil_all;
  training.interrupted = [&] { return training.watcher.refusals.size() >= 8; };
  EXPECT_EQ(training.run(), TrainingEnd::interrupted);
  EXPECT_TRUE(training.watcher.steps.empty());
}

TEST(Trainer, PublishedModelLoadsAsWhisper) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 2;
  training.options.export_type = "float16";
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  const auto model = WhisperModel::load(out.path() / "model", at::kCPU, ComputeType::float32);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->dims(), training.task->dims());
  const auto tokenizer = Tokenizer::load(out.path() / "model", model->dims().n_vocab);
  ASSERT_TRUE(tokenizer) << tokenizer.error().text();
  EXPECT_EQ(tokenizer->encode("az"), (std::vector<std::int32_t>{'a', 'z'}));
}

}  // namespace
}  // namespace tutti
