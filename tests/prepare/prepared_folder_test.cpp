#include "prepare/prepared_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "base/files.h"
#include "prepare/known_text.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class PreparedCorpus : public testing::Test {
 protected:
  /// A recording and its text, as users have them; the audio itself comes from of().
  fs::path recording(const std::string& name, const std::string& text) const {
    const auto path = folder_ / (name + ".wav");
    EXPECT_TRUE(write_file_atomically(path, "sound"));
    EXPECT_TRUE(write_file_atomically(fs::path(path).replace_extension(".txt"), text));
    return path;
  }
  /// A second of silence with so many samples of half a second in it.
  static PreparedRecording of(const fs::path& path, int pieces = 1) {
    auto pcm = open_unnamed_file().value();
    EXPECT_TRUE(write_all(pcm.get(), std::array<std::byte, 32000>{}, "pcm"));
    PreparedRecording prepared{.recording = Recording(std::move(pcm), 16000, {}),
                               .made_of = stamp_of_sources(path, {})};
    for (int i = 0; i < pieces; ++i) {
      PreparedPiece piece;
      piece.piece.end = 0.5;
      piece.piece.text = "of " + path.filename().string();
      prepared.pieces.push_back(std::move(piece));
    }
    return prepared;
  }
  Result<PreparedFolder> open(const std::string& settings = "same") const {
    return PreparedFolder::create(corpus(), settings,
                                  [](const std::string& path) { return stamp_of_sources(path, {}); });
  }
  std::string metadata() const { return read_file(corpus() / "metadata.csv").value(); }
  fs::path corpus() const { return folder_ / "corpus"; }

  TempFolder folder_;
};

TEST_F(PreparedCorpus, ResumesAfterTheFinishedRecordings) {
  const auto one = recording("one", "a"), two = recording("two", "b");
  ASSERT_TRUE(open().value().add(one, of(one)));
  EXPECT_EQ(open("other").error().fault, Fault::usage);
  auto folder = open().value();
  EXPECT_TRUE(folder.has(one));
  EXPECT_FALSE(folder.has(one)) << "it was named twice, and prepared once";
  EXPECT_FALSE(folder.has(two));
  EXPECT_EQ(folder.totals().samples, 1);
  ASSERT_TRUE(folder.add(two, of(two)));
  ASSERT_TRUE(folder.finish(/*ended=*/true));
  EXPECT_NE(metadata().find("\"one-0001\""), std::string::npos);
  EXPECT_NE(metadata().find("\"two-0001\""), std::string::npos);
  EXPECT_FALSE(fs::exists(corpus() / "done"));
  EXPECT_EQ(open().error().fault, Fault::usage) << "it is whole";
}

TEST_F(PreparedCorpus, DropsSamplesOfAChangedText) {
  const auto one = recording("one", "a"), two = recording("two", "b");
  {
    auto folder = open().value();
    ASSERT_TRUE(folder.add(one, of(one)));
    ASSERT_TRUE(folder.add(two, of(two)));
  }
  recording("one", "a longer one");
  auto folder = open().value();
  EXPECT_FALSE(folder.has(one));
  EXPECT_TRUE(folder.has(two));
  ASSERT_TRUE(folder.add(one, of(one)));
  ASSERT_TRUE(folder.finish(/*ended=*/true));
  const auto lines = metadata();
  EXPECT_EQ(lines.find("\"one-0001\""), lines.rfind("\"one-0001\"")) << lines;
  EXPECT_NE(lines.find("\"one-0001\""), std::string::npos) << "under its own name";
}

TEST_F(PreparedCorpus, NamesOfFinishedRecordingsAreNotReused) {
  const auto first = recording("a/talk", "a"), second = recording("b/talk", "b");
  {
    auto folder = open().value();
    ASSERT_TRUE(folder.add(first, of(first, 0))) << "no part of it is kept";
    ASSERT_TRUE(folder.add(second, of(second)));
  }
  auto folder = open().value();
  EXPECT_FALSE(folder.has(first));
  ASSERT_TRUE(folder.add(first, of(first)));
  ASSERT_TRUE(folder.finish(/*ended=*/true));
  EXPECT_NE(metadata().find("\"talk-0001\""), std::string::npos);
  EXPECT_NE(metadata().find("\"talk~2-0001\""), std::string::npos);
}

TEST_F(PreparedCorpus, ReplacesNoFileThatWasThereBefore) {
  for (const char* name : {"refused.jsonl", "metadata.csv", "done/1", "done/talk.mp3", "audio/a.flac"}) {
    const auto path = corpus() / name;
    ASSERT_TRUE(write_file_atomically(path, "mine"));
    const auto refused = open();
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().fault, Fault::usage) << name;
    EXPECT_NE(refused.error().text().find(path.string()), std::string::npos) << refused.error().text();
    EXPECT_EQ(read_file(path).value(), "mine");
    fs::remove_all(corpus());
  }
  fs::create_directories(corpus() / "done");
  ASSERT_TRUE(write_file_atomically(corpus() / "done/lock", "")) << "of one that was killed at its start";
  EXPECT_TRUE(open());
}

TEST_F(PreparedCorpus, RemovesOnlyItsOwnFilesAtItsEnd) {
  const auto one = recording("one", "a");
  auto folder = open().value();
  ASSERT_TRUE(folder.add(one, of(one)));
  ASSERT_TRUE(write_file_atomically(corpus() / "done/notes.txt", "mine"));
  ASSERT_TRUE(folder.finish(/*ended=*/true));
  EXPECT_EQ(read_file(corpus() / "done/notes.txt").value(), "mine");
  EXPECT_FALSE(fs::exists(corpus() / "done/1"));
  EXPECT_EQ(open().error().fault, Fault::usage) << "it is whole";
}

TEST_F(PreparedCorpus, IsWorkedOnByOneProcessAtATime) {
  const auto first = open();
  ASSERT_TRUE(first);
  EXPECT_EQ(open().error().fault, Fault::refused);
}

}  // namespace
}  // namespace tutti
