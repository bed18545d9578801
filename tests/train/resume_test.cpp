// Trainings of every kind, interrupted and gone on with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "small_training.h"
#include "support/closed_folder.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

struct Kind {
  const char* name;
  std::function<void(WhisperRecipe&)> change;
  std::int32_t accumulation = 1;
};

std::string kind_name(const testing::TestParamInfo<Kind>& it) {
  return it.param.name;
}

class EveryKind : public testing::TestWithParam<Kind> {
 protected:
  /// One part of a training, up to a step.
  static void run(const TempFolder& out, std::int64_t last) {
    auto recipe = restless_recipe();
    GetParam().change(recipe);
    Training training(out.path(), recipe);
    training.options.max_steps = last;
    training.options.accumulation = GetParam().accumulation;
    ASSERT_EQ(training.run(), TrainingEnd::finished);
  }
};

TEST_P(EveryKind, EndsInTheSameBitsWhenItIsResumed) {
  const TempFolder whole, parts;
  run(whole, 9);
  run(parts, 4);
  run(parts, 7);
  run(parts, 9);
  for (const char* file : {"model/model.safetensors", "checkpoints/step-00000009/model.safetensors",
                           "checkpoints/step-00000009/training.safetensors"})
    EXPECT_TRUE(read_file(parts / file).value() == read_file(whole / file).value()) << file;
}

INSTANTIATE_TEST_SUITE_P(
    Resume, EveryKind,
    testing::Values(Kind{"AdditionsWithAverages", [](WhisperRecipe& r) { r.learning.lora_rank = 2; }},
                    Kind{"AdditionsRecomputed",
                         [](WhisperRecipe& r) {
                           r.learning.lora_rank = 2;
                           r.hardware.gradient_checkpointing = true;
                         }},
                    Kind{"AFrozenEncoderAccumulating", [](WhisperRecipe& r) { r.learning.freeze_encoder = true; }, 3},
                    Kind{"AdditionsToTheDecoderAloneAccumulating",
                         [](WhisperRecipe& r) {
                           r.learning.freeze_encoder = true;
                           r.learning.lora_rank = 2;
                         },
                         2},
                    Kind{"AHeadAccumulating", [](WhisperRecipe& r) { r.learning.ctc_weight = 0.5; }, 2},
                    Kind{"RoundedTo16Bits", [](WhisperRecipe& r) { r.arithmetic.precision = "bfloat16"; }},
                    Kind{"ScaledInHalf", [](WhisperRecipe& r) { r.arithmetic.precision = "float16"; }, 2}),
    kind_name);

TEST(Resume, PatienceIsCountedOn) {
  const TempFolder out;
  const auto scored = [](Training& training) {
    training.options.eval_steps = 2;
    training.options.patience = 3;
    training.evaluate = []() -> Result<TaskScores> { return scored_by(0.5); };
  };
  Training first(out.path());
  scored(first);
  first.interrupted = [&] { return first.watcher.steps.size() == 5; };
  ASSERT_EQ(first.run(), TrainingEnd::interrupted);
  Training second(out.path());
  scored(second);
  ASSERT_EQ(second.run(), TrainingEnd::no_progress);
  EXPECT_EQ(second.watcher.steps, (std::vector<std::int64_t>{6, 7, 8})) << "one of three was used up before";
  Training third(out.path());
  scored(third);
  EXPECT_EQ(third.run(), TrainingEnd::no_progress);
  EXPECT_TRUE(third.watcher.steps.empty()) << "it had ended";
}

/// Ends after `last` steps, in the middle of an epoch; the network of step `best` scores best.
void evaluator(Training& training, std::int64_t last, std::int64_t best) {
  training.options.max_steps = last;
  training.options.save_steps = 3;
  training.restore_best_at(best);
}

TEST(Resume, LastEvaluationIsRestoredWithoutRepeatingIt) {
  const TempFolder out;
  Training first(out.path());
  evaluator(first, 3, 3);
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  ASSERT_EQ(first.watcher.bests, std::vector<bool>{true}) << "behind the checkpoint of the same step";
  const auto best = read_file(out / "model/model.safetensors").value();
  Training same(out.path());
  evaluator(same, 3, 3);
  ASSERT_EQ(same.run(), TrainingEnd::finished);
  EXPECT_EQ(same.watcher.bests, std::vector<bool>{}) << "it was finished";
  Training longer(out.path());
  evaluator(longer, 4, 3);
  ASSERT_EQ(longer.run(), TrainingEnd::finished);
  EXPECT_EQ(longer.watcher.bests, std::vector<bool>{false});
  EXPECT_TRUE(read_file(out / "model/model.safetensors").value() == best) << "a worse one took its place";
}

TEST(Resume, BestOfAnotherEvaluationSetIsDiscarded) {
  const TempFolder out;
  const auto run = [&](const char* set, std::int64_t best) {
    Training training(out.path());
    evaluator(training, 3, best);
    training.options.evaluator = set;
    EXPECT_EQ(training.run(), TrainingEnd::finished);
    return training.watcher.bests;
  };
  EXPECT_EQ(run("one", 3), std::vector<bool>{true});
  EXPECT_EQ(run("other \xff", 0), std::vector<bool>{true}) << "with five times as many errors";
  EXPECT_EQ(run("other \xff", 0), std::vector<bool>{});
}

TEST(Resume, UnevaluatedRunStoresLastModelAndNextEvaluationTheBest) {
  for (const std::int64_t last : {4, 6}) {  // without and with further steps
    const TempFolder out;
    const auto scored = [](Training& training, std::int64_t steps) {
      evaluator(training, steps, 2);
      training.options.eval_steps = 2;
      training.options.keep = 1;
    };
    Training first(out.path());
    scored(first, 4);
    ASSERT_EQ(first.run(), TrainingEnd::finished);
    const auto best = read_file(out / "model/model.safetensors").value();
    Training unevaluated(out.path());
    unevaluated.options.max_steps = last;
    unevaluated.options.keep = 1;
    ASSERT_EQ(unevaluated.run(), TrainingEnd::finished);
    EXPECT_FALSE(read_file(out / "model/model.safetensors").value() == best) << "it is the last";
    EXPECT_TRUE(fs::exists(out / "checkpoints/step-00000002")) << "the best is not lost";
    Training again(out.path());
    scored(again, last);
    ASSERT_EQ(again.run(), TrainingEnd::finished);
    EXPECT_TRUE(read_file(out / "model/model.safetensors").value() == best) << last;
  }
}

TEST(Resume, AModelThatCouldNotBeWrittenIsMadeOfTheBestCheckpoint) {
  const TempFolder whole, parts;
  const auto scored = [](Training& training) {
    evaluator(training, 4, 2);
    training.options.eval_steps = 2;
  };
  Training straight(whole.path());
  scored(straight);
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  fs::create_directory(parts / "checkpoints");
  {
    const ClosedFolder closed(parts.path());
    Training first(parts.path());
    scored(first);
    const auto end = first.run();
    ASSERT_FALSE(end) << "there is no model";
    EXPECT_THAT(end.error().what, testing::HasSubstr("model"));
  }
  for (const char* missing : {"not written", "removed since"}) {
    ASSERT_FALSE(fs::exists(parts / "model"));
    Training again(parts.path());
    scored(again);
    ASSERT_EQ(again.run(), TrainingEnd::finished);
    EXPECT_TRUE(again.watcher.bests.empty());
    ASSERT_TRUE(fs::exists(parts / "model/model.safetensors")) << missing;
    EXPECT_TRUE(read_file(parts / "model/model.safetensors").value() ==
                read_file(whole / "model/model.safetensors").value())
        << missing;
    fs::remove_all(parts / "model");
  }
  fs::remove_all(parts / "checkpoints/step-00000002");
  Training last(parts.path());
  scored(last);
  const auto end = last.run();
  ASSERT_FALSE(end) << "neither the model nor what to make it of is there";
  EXPECT_THAT(end.error().what, testing::HasSubstr("model is to be made of the best network"));
}

TEST(Resume, AdditionsAboveAnotherModelAreRefused) {
  auto recipe = restless_recipe();
  recipe.learning.lora_rank = 2;
  const TempFolder out;
  Training training(out.path(), recipe);
  training.options.max_steps = 2;
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  const auto checkpoint = CheckpointFolder(out.path()).newest_first().front();
  Training same(out.path(), recipe);
  EXPECT_TRUE(restore_checkpoint(checkpoint, *same.task, same.step));
  recipe.arithmetic.seed = 8;  // of the network that the additions are to
  Training other(out.path(), recipe);
  const auto restored = restore_checkpoint(checkpoint, *other.task, other.step);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().fault, Fault::usage);
  EXPECT_THAT(restored.error().what, testing::HasSubstr("above another model"));
}

TEST(Resume, ACheckpointHoldsTheSettingsItWasMadeBy) {
  const TempFolder out;
  Training training(out.path());
  training.options.max_steps = 1;
  training.options.settings = "learning-rate = 0.01\n";
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  EXPECT_EQ(read_file(out / "checkpoints/step-00000001/training.toml").value(), "learning-rate = 0.01\n");
  EXPECT_FALSE(fs::exists(out / "model/training.toml"));
}

}  // namespace
}  // namespace tutti
