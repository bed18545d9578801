#include "text/manifest/recording_names.h"

#include <gtest/gtest.h>

#include <set>

using namespace tutti;

TEST(RecordingNames, RecordingIsRecognisedByItsExtensionInAnyCase) {
  for (const char* name : {"talk.mp3", "talk.MP3", "a folder/talk.de.Flac", "film.m2ts"})
    EXPECT_TRUE(is_recording(name)) << name;
  for (const char* name : {"talk", ".mp3", "talk.mp3.json", "talk.txt", "mp3"})
    EXPECT_FALSE(is_recording(name)) << name;
}

TEST(RecordingNames, ExtensionsAreUniqueAndLowerCase) {
  const std::set<std::string_view> once(recording_endings().begin(), recording_endings().end());
  EXPECT_EQ(once.size(), recording_endings().size());
  for (const auto ending : recording_endings()) EXPECT_TRUE(is_recording("a" + std::string(ending))) << ending;
}
