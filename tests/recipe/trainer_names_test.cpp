#include "recipe/trainers/trainer_names.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::ElementsAre;

TEST(TrainerNames, HuggingFaceNamesMapToOurs) {
  EXPECT_THAT(in_our_names({"--data_dir", "d", "--output_dir=o", "--num_epochs", "3", "--logging_steps=7"}).value(),
              ElementsAre("--data", "d", "--out=o", "--epochs", "3", "--log-steps=7"));
  EXPECT_THAT(in_our_names({"--bf16", "--gradient_accumulation_steps", "2", "--dataloader_num_workers", "6"}).value(),
              ElementsAre("--precision", "bfloat16", "--accumulation", "2", "--threads", "6"));
}

TEST(TrainerNames, OursAndAllOtherWordsStayAsTheyAre) {
  EXPECT_THAT(in_our_names({"--batch_size", "4", "data_dir", "--use-chunking=False", "-x"}).value(),
              ElementsAre("--batch_size", "4", "data_dir", "--use-chunking=False", "-x"));
}

TEST(TrainerNames, TwoPrecisionsAtOnceAreRefusedByTheirNames) {
  const auto both = in_our_names({"--bf16", "--tf32"});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().fault, Fault::usage);
  EXPECT_EQ(both.error().what, "--bf16 and --tf32: --precision is either bfloat16 or tf32");
  EXPECT_TRUE(in_our_names({"--bf16", "--bf16"}));
}

TEST(TrainerNames, ASwitchMayBeGivenAValue) {
  EXPECT_THAT(in_our_names({"--fp16", "False", "--bf16", "True", "--seed", "1"}).value(),
              ElementsAre("--precision", "bfloat16", "--seed", "1"));
  EXPECT_THAT(in_our_names({"--bf16=True", "--tf32=false"}).value(), ElementsAre("--precision", "bfloat16"));
  const auto neither = in_our_names({"--bf16=maybe"});
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().what, testing::HasSubstr("--bf16=maybe"));
}

TEST(TrainerNames, MinusOneStepsAreAllOfThem) {
  EXPECT_THAT(in_our_names({"--max_steps", "-1", "--max-steps=-1", "--seed", "-1"}).value(),
              ElementsAre("--max_steps", "0", "--max-steps=0", "--seed", "-1"));
}

TEST(TrainerNames, ResumeTakesCheckpointPathOrBoolean) {
  EXPECT_THAT(in_our_names({"--resume_from_checkpoint", "out/checkpoints/step-5"}).value(),
              ElementsAre("--resume-from", "out/checkpoints/step-5"));
  EXPECT_THAT(in_our_names({"--resume-from-checkpoint=out/checkpoints/step-5", "--seed", "1"}).value(),
              ElementsAre("--resume-from=out/checkpoints/step-5", "--seed", "1"));
  EXPECT_THAT(in_our_names({"--resume-from-checkpoint=True"}).value(), ElementsAre("--resume=True"));
  EXPECT_THAT(in_our_names({"--resume_from_checkpoint", "True"}).value(), ElementsAre("--resume", "True"));
  EXPECT_THAT(in_our_names({"--resume_from_checkpoint", "--seed", "1"}).value(),
              ElementsAre("--resume", "--seed", "1"));
}

Result<LoaderFlags> spellings(const std::vector<std::string>& words) {
  auto others = without_loader_flags(words, "dataloader_", 0);
  if (!others) return others;
  auto ours = in_our_names(others->words);
  if (!ours) return tl::unexpected<Error>(ours.error());
  others->words = std::move(*ours);
  return others;
}

std::string in_our_keys(const std::string& toml, std::string* answers = nullptr) {
  const std::vector<std::string> known{"batch-size", "epochs", "precision", "ring-depth", "model", "max-steps"};
  const auto text = recipe_in_our_keys(toml, "r.toml", known, spellings, [&](const std::string& answer) {
    if (answers) *answers += answer;
  });
  return text ? *text : text.error().text();
}

TEST(RecipeKeys, UnderscoresAreHyphens) {
  EXPECT_EQ(in_our_keys("batch_size = 4  # small\nmodel = \"a = b\"\n"), "batch-size = 4  # small\nmodel = \"a = b\"");
}

TEST(RecipeKeys, NamesOfOtherTrainersBecomeOursOnTheirLine) {
  EXPECT_EQ(in_our_keys("# mine\nnum_train_epochs = 2\n\nmodel_name = \"tiny\" # it\nbf16 = true\ntf32 = false"),
            "# mine\nepochs = 2\n\nmodel = \"tiny\" # it\nprecision = \"bfloat16\"\n");
  EXPECT_EQ(in_our_keys("max_steps = -1"), "max-steps = 0");
}

TEST(RecipeKeys, LoaderSettingsAreAnsweredAndLeftOut) {
  std::string answers;
  EXPECT_EQ(in_our_keys("dataloader_pin_memory = true\ndataloader_prefetch_factor = 5\nepochs = 1", &answers),
            "\nring-depth = 5\nepochs = 1");
  EXPECT_THAT(answers, testing::HasSubstr("pin-memory: no effect"));
}

TEST(RecipeKeys, UnknownKeysStayForTheStrictReader) {
  EXPECT_EQ(in_our_keys("bach_size = 4\n[table]\nx = 1"), "bach_size = 4\n[table]\nx = 1");
}

TEST(RecipeKeys, InvalidValueIsNamedWithItsLine) {
  EXPECT_THAT(in_our_keys("epochs = 1\ndataloader_prefetch_factor = 0"), testing::HasSubstr("r.toml:2"));
}

}  // namespace
}  // namespace tutti
