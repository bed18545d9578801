// What the machine lacks is no fault of a sample.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "feed/corpus.h"
#include "feed/source/dataset.h"
#include "feed/stages/sample_stages.h"
#include "support/environment.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// One sample in a format that only FFmpeg reads.
class Film : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(std::filesystem::path(TUTTI_SOURCE_DIR) / "samples/mixed.m4a", sound());
    corpus_.write(R"({"id":"s0","audio":"mixed.m4a","text":"a","start":0,"end":2})");
  }
  std::filesystem::path sound() const { return corpus_.folder() / "mixed.m4a"; }

  Corpus corpus_{std::vector<double>()};
  const std::filesystem::path bad_ = corpus_.folder() / "bad.jsonl";
};

TEST_F(Film, IsASampleLikeAnyOther) {
  const auto batches = all_batches(options_for(corpus_.manifest()));
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].samples.at(0).frames, 200);
}

TEST_F(Film, WhereItsDecoderIsMissingTheFeedEndsWithThatAndTheSampleIsNotBlamed) {
  const TempFolder libraries;
  for (int version = 55; version < 70; ++version)  // whichever this was built for is found first, and is none
    ASSERT_TRUE(write_file_atomically(libraries / ("libavformat.so." + std::to_string(version)), ""));
  const ScopedVariable hidden("LD_LIBRARY_PATH", libraries.path().c_str());  // from decoding children
  FeedOptions options = options_for(corpus_.manifest());
  options.bad_samples = bad_;
  Feed feed = opened(options);
  const auto batch = feed.next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().fault, Fault::missing);
  EXPECT_THAT(batch.error().text(), testing::AllOf(HasSubstr("s0: "), HasSubstr("FFmpeg's library libavformat.so."),
                                                   HasSubstr("Install FFmpeg's libraries")));
  EXPECT_EQ(read_file(bad_).value(), "") << "it is as good as it was";
}

TEST_F(Film, WhoseFileIsGoneBeforeItIsDecodedIsABadSample) {
  const FeedOptions options = options_for(corpus_.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  Row row{.work = std::make_shared<BatchInWork>(), .planned = {.index = 0, .frames = 200}};
  stages.read(row);
  ASSERT_TRUE(row.needs_sound());
  std::filesystem::remove(sound());
  stages.decode(row);
  EXPECT_FALSE(row.lacking);
  ASSERT_TRUE(row.bad);
  EXPECT_THAT(row.bad->what, HasSubstr("No such file"));
}

}  // namespace
}  // namespace tutti
