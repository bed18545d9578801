#include "recipe/trainers/loader_flags.h"

#include <gtest/gtest.h>

using namespace tutti;

using Words = std::vector<std::string>;

TEST(LoaderFlags, AreAnsweredAndTakenOut) {
  const auto flags = without_loader_flags({"--data", "set", "--num_workers", "8", "--pin-memory", "True",
                                           "--persistent_workers", "--out", "o", "--stage_dir=/mnt/ramdisk"},
                                          "", 0);
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->words, (Words{"--data", "set", "--out", "o"}));
  ASSERT_EQ(flags->answers.size(), 4);
  EXPECT_TRUE(flags->answers[0].starts_with("--num_workers: there are no loader processes")) << flags->answers[0];
}

TEST(LoaderFlags, PrefetchFactorBecomesTheRingsDepthWithItsMemory) {
  const auto flags = without_loader_flags({"--prefetch_factor", "128"}, "", 8192 * 128);
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->words, (Words{"--ring-depth", "128"}));
  EXPECT_NE(flags->answers.at(0).find("134 MB"), std::string::npos) << flags->answers[0];
  EXPECT_EQ(without_loader_flags({"--prefetch_factor", "many"}, "", 0).error().fault, Fault::usage);
}

TEST(LoaderFlags, WithAPrefixOnlyItsNamesAreTaken) {
  const Words kept{"--dataloader_num_workers", "2", "--pin_memory"};
  auto words = kept;
  words.push_back("--dataloader_pin_memory");
  const auto flags = without_loader_flags(words, "dataloader_", 0);
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->words, kept);
  EXPECT_EQ(flags->answers.size(), 1);
}

TEST(LoaderFlags, ValueThatAFlagCannotHaveIsRefusedByName) {
  for (const Words& words :
       {Words{"--num-workers", "abc"}, Words{"--num_workers"}, Words{"--pin_memory", "maybe"}, Words{"--stage-dir"}}) {
    const auto flags = without_loader_flags(words, "", 0);
    ASSERT_FALSE(flags) << words[0];
    EXPECT_EQ(flags.error().fault, Fault::usage);
    EXPECT_TRUE(flags.error().what.starts_with(words[0] + ": expected")) << flags.error().what;
  }
}

TEST(LoaderFlags, NegativeNumberIsAValueAndAMissingOneIsRefused) {
  EXPECT_EQ(in_voice_names({"--model-gpu-memory", "-5"})->words, (std::vector<std::string>{"--device-memory", "-5"}));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--buffer-size"}, {"--model-start-delay", "--resume"}, {"--lr", "--resume"}}) {
    const auto flags = in_voice_names(words);
    ASSERT_FALSE(flags) << words[0];
    EXPECT_EQ(flags.error().what, words[0] + ": a value is missing");
  }
}

TEST(LoaderFlags, FlagBesideOursWithAnotherValueIsRefused) {
  const auto both = in_voice_names({"--checkpoint-dir", "a", "--out=b"});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().what, "--checkpoint-dir a: it is --out here, which is b already");
  EXPECT_TRUE(in_voice_names({"--checkpoint-dir", "a", "--out", "a"})) << "they agree";
  EXPECT_EQ(in_voice_names({"--device", "cpu", "--model-gpu", "1"})->words.back(), "cuda:1") << "the last holds";
  EXPECT_TRUE(in_voice_names({"--model-gpu", "1", "--data-gpu", "0"}));
  EXPECT_FALSE(without_loader_flags({"--prefetch_factor", "8", "--ring-depth", "3"}, "", 0));
}
