#include "hub/names.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(ModelNames, OpenaisShortNamesStandForTheirRepositories) {
  EXPECT_EQ(resolve_name("tiny.en").value().repo, "openai/whisper-tiny.en");
  EXPECT_EQ(resolve_name("whisper-small").value().repo, "openai/whisper-small");
  EXPECT_EQ(resolve_name("large").value().repo, "openai/whisper-large-v3");
  EXPECT_EQ(resolve_name("large-v1").value().repo, "openai/whisper-large");
  EXPECT_EQ(resolve_name("turbo").value().repo, "openai/whisper-large-v3-turbo");
  EXPECT_EQ(resolve_name("turbo").value().openai, "large-v3-turbo");
  EXPECT_EQ(resolve_name("distil-large-v3").value().repo, "distil-whisper/distil-large-v3");
}

TEST(ModelNames, RepositoryKeepsItsNameAlsoInOpenaiCache) {
  EXPECT_EQ(resolve_name("someone/fine-tuned_2.0").value().repo, "someone/fine-tuned_2.0");
  EXPECT_EQ(resolve_name("someone/fine-tuned_2.0").value().openai, "");
  EXPECT_EQ(resolve_name("openai/whisper-tiny.en").value().openai, "tiny.en");
}

TEST(ModelNames, ATypingMistakeIsAnsweredWithTheNearestNames) {
  const auto name = resolve_name("tinny.en");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().fault, Fault::usage);
  EXPECT_NE(name.error().hint.find("tiny.en"), std::string::npos) << name.error().text();
  EXPECT_EQ(nearest_names("openai/whisper-large-v33").front(), "openai/whisper-large-v3");
}

TEST(ModelNames, NameThatCouldLeaveTheModelsFolderIsRefused) {
  for (const auto* word : {"../x", "a/..", "a/b/c", "/etc", "a/", "a b/c", "a/b?c"})
    EXPECT_FALSE(resolve_name(word)) << word;
}

TEST(ModelNames, AFolderIsNamedAfterBothHalves) {
  EXPECT_EQ(folder_name("openai/whisper-tiny"), "openai--whisper-tiny");
}
