#include "cli/training/trainer_names.h"

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

}  // namespace
}  // namespace tutti
