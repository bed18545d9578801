#include "feed/source/content.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "feed/corpus.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::uint64_t content_at(const fs::path& data, std::int64_t lines) {
  return content_of(*open_dataset(data, "", {}).value(), lines);
}

TEST(Content, DigestDoesNotDependOnTheFolder) {
  const Corpus corpus({0.5, 0.6, 0.7});
  const TempFolder elsewhere;
  fs::copy(corpus.folder().path(), elsewhere / "moved");
  EXPECT_EQ(content_at(elsewhere / "moved/set.jsonl", 3), content_at(corpus.manifest(), 3));
}

TEST(Content, IsAnotherWhereTextOrAudioIsAnother) {
  Corpus corpus({0.5, 0.6, 0.7});
  const auto before = content_at(corpus.manifest(), 3), two = content_at(corpus.manifest(), 2);
  EXPECT_NE(two, before);
  write_wav(corpus.file(2), audio_of(7, 16000));
  EXPECT_NE(content_at(corpus.manifest(), 3), before) << "another recording";
  EXPECT_EQ(content_at(corpus.manifest(), 2), two) << "which is not one of these";
  const auto with_audio = content_at(corpus.manifest(), 3);
  auto lines = read_file(corpus.manifest()).value();
  lines.replace(lines.find("text 2"), 6, "text 3");
  corpus.write(lines);
  EXPECT_NE(content_at(corpus.manifest(), 3), with_audio) << "another text";
}

/// Recordings with transcripts, whose texts no list holds.
class Transcribed : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "talks");
    write_wav(folder_ / "talks/a.wav", audio_of(1, 8000));
    write_text("one");
  }
  void write_text(const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_ / "talks/a.json", "{\"text\":\"" + text + "\",\"segments\":[]}"));
  }
  TempFolder folder_;
};

TEST_F(Transcribed, TextsAreContentToo) {
  const auto before = content_at(folder_ / "talks", 1);
  write_text("two");
  EXPECT_NE(content_at(folder_ / "talks", 1), before) << "of the same length";
  write_text("one");
  EXPECT_EQ(content_at(folder_ / "talks", 1), before);
}

TEST_F(Transcribed, ASetThatWasMovedOrIsSpeltOtherwiseGoesOnFromItsPositions) {
  fs::create_directory(folder_ / "far");
  fs::copy(folder_ / "talks", folder_ / "far/talks");
  const auto here = open_dataset(folder_ / "talks", "", {}).value();
  EXPECT_EQ(open_dataset(folder_ / "far/talks", "", {}).value()->fingerprint(), here->fingerprint());
  EXPECT_EQ(open_dataset(folder_ / "far/../talks", "", {}).value()->fingerprint(), here->fingerprint());
  fs::rename(folder_ / "far/talks/a.wav", folder_ / "far/talks/b.wav");
  fs::rename(folder_ / "far/talks/a.json", folder_ / "far/talks/b.json");
  EXPECT_NE(open_dataset(folder_ / "far/talks", "", {}).value()->fingerprint(), here->fingerprint());
}

}  // namespace
}  // namespace tutti
