// Samples that are parts of recordings of hours: what is kept of the file while they are made.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "feed/corpus.h"
#include "feed/feature_cache.h"
#include "feed/source/dataset.h"
#include "feed/stages/sample_stages.h"

namespace tutti {
namespace {

constexpr std::int64_t kRate = 16000;

/// Six minutes, and a sample of two seconds in the fifth.
class LargeFile : public testing::Test {
 protected:
  void SetUp() override {
    write_wav(corpus_.file(0), whole_);
    corpus_.write(R"({"id":"s0","audio":"s0.wav","text":"a","start":250,"end":252})");
    options_ = options_for(corpus_.manifest());
    set_ = open_dataset(options_.data, "", {}).value();
  }
  static PendingSample row() {
    return {.work = std::make_shared<PendingBatch>(), .planned = {.index = 0, .frames = 200}};
  }
  /// The audio of a row after the stages up to its features.
  std::vector<std::int16_t> found(SampleStages& stages, PendingSample& row) const {
    stages.read(row);
    EXPECT_TRUE(row.is<PartOfFile>()) << "dozens of rows wait to be decoded, each with the whole file";
    stages.decode(row);
    stages.resample(row);
    EXPECT_TRUE(row.is<ClipPcm>());
    return row.is<ClipPcm>() ? std::get<ClipPcm>(row.state) : ClipPcm();
  }
  std::vector<std::int16_t> part() const { return {whole_.begin() + 250 * kRate, whole_.begin() + 252 * kRate}; }

  Corpus corpus_{std::vector<double>()};
  std::vector<std::int16_t> whole_ = audio_of(3, 360 * kRate);
  FeedOptions options_{};
  std::unique_ptr<Dataset> set_{};
};

TEST_F(LargeFile, IsReadOnlyInTheSamplesRange) {
  SampleStages stages(options_, *set_, nullptr);
  PendingSample one = row();
  EXPECT_TRUE(found(stages, one) == part());
}

TEST_F(LargeFile, IsKnownToTheCacheByAllOfIt) {
  options_.cache.folder = corpus_.folder() / "cache";
  const auto cache = FeatureCache::open(options_.cache).value();
  SampleStages stages(options_, *set_, cache.get());
  PendingSample first = row(), same = row(), other = row();
  EXPECT_TRUE(found(stages, first) == part());
  stages.read(same);
  EXPECT_EQ(same.key, first.key);
  whole_[0] = static_cast<std::int16_t>(whole_[0] + 1);
  write_wav(corpus_.file(0), whole_);
  stages.read(other);
  EXPECT_FALSE(other.key == first.key);
}

TEST(ProbedFile, HeaderIsReadInTheFirstEpochAlone) {
  const Corpus corpus({1.5});
  const FeedOptions options = options_for(corpus.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  const auto first = stages.probe({.epoch = 0, .index = 0});
  ASSERT_EQ(first.samples.size(), 1U);
  std::filesystem::remove(corpus.file(0));
  EXPECT_EQ(stages.probe({.epoch = 1, .index = 0}).samples, first.samples);
  EXPECT_TRUE(SampleStages(options, *set, nullptr).probe({.index = 0}).bad);
}

TEST_F(LargeFile, DeletedBeforeDecodingIsABadSample) {
  SampleStages stages(options_, *set_, nullptr);
  PendingSample one = row();
  stages.read(one);
  std::filesystem::remove(corpus_.file(0));
  stages.decode(one);
  EXPECT_FALSE(one.shortage());
  ASSERT_TRUE(one.bad());
  EXPECT_NE(one.bad()->what.find("s0.wav"), std::string::npos) << one.bad()->what;
}

TEST(SmallFile, IsReadWholeAndFreedAfterDecoding) {
  const Corpus corpus({1.0});
  const FeedOptions options = options_for(corpus.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  PendingSample row{.work = std::make_shared<PendingBatch>(), .planned = {.index = 0, .frames = 100}};
  stages.read(row);
  ASSERT_TRUE(row.is<WholeFile>());
  EXPECT_GT(std::get<WholeFile>(row.state).size(), 32000U);
  stages.decode(row);
  EXPECT_TRUE(row.is<NativeClip>());
}

}  // namespace
}  // namespace tutti
