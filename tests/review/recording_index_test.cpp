#include "review/recording_index.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

void touch(const std::filesystem::path& file) {
  ASSERT_TRUE(write_file_atomically(file, "x"));
}

}  // namespace

TEST(RecordingIndex, ATranscriptBelongsToTheAudioOfItsNameBesideIt) {
  const TempFolder folder;
  for (const char* name : {"talk.mp3", "talk.json", "talk.txt", "film.mkv", "film.mkv.json"}) touch(folder / name);
  const RecordingIndex index({});
  EXPECT_EQ(index.recording_of(folder / "talk.json"), folder / "talk.mp3");
  EXPECT_EQ(index.recording_of(folder / "film.mkv.json"), folder / "film.mkv");
  EXPECT_EQ(index.recording_of(folder / "other.json"), std::nullopt);
}

TEST(RecordingIndex, RecordingsOfAllBatchExtensionsAreFound) {
  const TempFolder folder;
  for (const char* name : {"book.m4b", "old.mp2", "film.ogv", "LOUD.WAV", "stream.ts"}) {
    touch(folder / name);
    EXPECT_EQ(RecordingIndex({}).recording_of(folder / (std::string(name) + ".json")), folder / name);
  }
  touch(folder / "notes.md");
  EXPECT_EQ(RecordingIndex({}).recording_of(folder / "notes.json"), std::nullopt);
}

TEST(RecordingIndex, BelowARootTheFolderDecidesBetweenEqualNames) {
  const TempFolder folder;
  touch(folder / "in/monday/talk.wav");
  touch(folder / "in/tuesday/talk.wav");
  const RecordingIndex index(folder / "in");
  EXPECT_EQ(index.recording_of(folder / "out/tuesday/talk.json"), folder / "in/tuesday/talk.wav");
  EXPECT_EQ(index.recording_of(folder / "out/talk.json"), std::nullopt) << "it could be either";
}
