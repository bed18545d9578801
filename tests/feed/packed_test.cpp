// A packed set, and batches gathered from it by index, held against the feed that reads every sample when its turn
// comes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "feed/feature_cache.h"
#include "feed/packed/packed_set.h"
#include "feed/packing.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(Packed, BatchEqualsThatOfTheStreamedFeedWithCache) {
  const Corpus corpus(mixed_lengths(50));
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 3;
  options.augmentation.spectrum = {.band_count = 2, .stretch_count = 2};
  for (const Padding padding : {Padding::bucket, Padding::window}) {
    options.padding = padding;
    options.window = Seconds(4);
    const auto expected = all_batches(with_cache(options, corpus.folder() / "cache"));
    for (const Residence where : {Residence::mapped, Residence::memory})
      expect_same(all_batches(gathering(options, corpus.folder() / "packs", where)), expected);
  }
  EXPECT_EQ(packs_in(corpus.folder() / "packs").size(), 1U) << "padding and masks are no part of what is packed";
}

TEST(Packed, CachedFeaturesAreReused) {
  const Corpus corpus(mixed_lengths(12));
  const FeedOptions options = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto expected = all_batches(options);
  expect_same(all_batches(gathering(options, corpus.folder() / "cache")), expected);
  EXPECT_EQ((*FeatureCache::open(options.cache))->entries(), 12U) << "nothing is stored twice";
}

TEST(Packed, ThreadsAndRanksChangeNothing) {
  const Corpus corpus(mixed_lengths(40), false, 22050);
  FeedOptions options = options_for(corpus.manifest());
  options.ranks = 2;
  options.rank = 1;
  const auto expected = all_batches(with_cache(options, corpus.folder() / "cache"));
  for (const int threads : {1, 8}) {
    options.threads = FeedThreads::of(threads);
    expect_same(all_batches(gathering(options, corpus.folder() / ("packs" + std::to_string(threads)))), expected);
  }
}

TEST(Packed, GoesOnFromAnyPositionAlsoFromOneOfTheStreamedFeed) {
  std::vector<double> lengths = mixed_lengths(60);  // so many that the look-ahead is full at most positions
  for (double& seconds : lengths) seconds /= 4;
  const Corpus corpus(lengths);
  FeedOptions streamed = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  streamed.epochs = 2;
  FeedOptions gathered = gathering(streamed, corpus.folder() / "cache");
  const auto whole = all_batches(gathered), as_streamed = all_batches(streamed);
  const auto expected = digests_of(whole);
  ASSERT_EQ(digests_of(as_streamed), expected);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const auto rest = ElementsAreArray(expected.begin() + static_cast<std::ptrdiff_t>(at) + 1, expected.end());
    gathered.resume = whole[at].position;
    EXPECT_THAT(digests_of(all_batches(gathered)), rest) << "after batch " << at;
    gathered.resume = as_streamed[at].position;
    EXPECT_THAT(digests_of(all_batches(gathered)), rest) << "after streamed batch " << at;
    streamed.resume = whole[at].position;
    EXPECT_THAT(digests_of(all_batches(streamed)), rest) << "streamed after batch " << at;
  }
}

/// Thirty samples, of which some are bad in different ways: found out by their headers, or when they are decoded.
class RottenSet : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fs::remove(corpus_.file(3));
    ASSERT_TRUE(write_file_atomically(corpus_.file(7), ""));
    const auto cut = read_file(corpus_.file(11)).value();
    ASSERT_TRUE(write_file_atomically(corpus_.file(11), cut.substr(0, cut.size() / 2)));
    ASSERT_TRUE(write_file_atomically(corpus_.file(13), "this is no audio at all, despite its name"));
    options_.bad_limits.share = 1;
    options_.epochs = 2;
  }
  std::multiset<std::string> reported(FeedOptions options, const std::string& name) const {
    options.bad_samples = corpus_.folder() / name;
    all_batches(options);
    std::istringstream text(read_file(options.bad_samples).value());
    std::multiset<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.insert(line);
    return lines;
  }

  Corpus corpus_{mixed_lengths(30), /*with_durations=*/GetParam()};
  FeedOptions options_ = with_cache(options_for(corpus_.manifest()), corpus_.folder() / "cache");
};

TEST_P(RottenSet, ReplacesAndReportsBadSamplesAsTheStreamedFeedDoes) {
  const FeedOptions gathered = gathering(options_, corpus_.folder() / "cache");
  const auto expected = all_batches(options_);
  expect_same(all_batches(gathered), expected);
  const auto lines = reported(options_, "streamed.jsonl");
  EXPECT_EQ(lines.size(), 4U);
  EXPECT_EQ(reported(gathered, "gathered.jsonl"), lines);
  const auto digests = digests_of(expected);
  for (const Batch& batch : all_batches(gathered)) {
    FeedOptions resumed = gathered;
    resumed.resume = batch.position;
    EXPECT_THAT(digests_of(all_batches(resumed)), ElementsAreArray(digests.begin() + batch.index + 1, digests.end()));
  }
}

TEST_P(RottenSet, StopsWhereMoreIsBadThanMayBe) {
  options_.bad_limits.count = 2;
  Feed feed = opened(gathering(options_, corpus_.folder() / "cache"));
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  do batch = feed.next();
  while (batch && *batch);
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().what, HasSubstr("3 of"));
}

std::string found_out(const testing::TestParamInfo<bool>& it) {
  return it.param ? "WhenDecoded" : "WhenProbed";
}
INSTANTIATE_TEST_SUITE_P(FoundOut, RottenSet, testing::Bool(), found_out);

TEST(Packed, ASetOfWhichNothingCanBeUsedIsAnErrorEvenWithoutAnEndOfEpochs) {
  const Corpus corpus({1.0, 1.0, 1.0});
  for (std::size_t i = 0; i < 3; ++i) fs::remove(corpus.file(i));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.epochs = 0;
  Feed feed = opened(options);
  const auto batch = feed.next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().fault, Fault::corrupt);
  EXPECT_THAT(batch.error().text(), HasSubstr("3 are bad"));
}

TEST(Packed, ABatchThatGrowsBeyondItsPlanIsTheStreamedOne) {
  const std::vector<double> seconds{1.5, 1.0, 0.97, 0.965, 0.5};
  Corpus corpus(seconds);
  corpus.claim({1.0, 1.0, 0.97, 0.965, 0.5});
  FeedOptions options = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.batch_size = 5;
  options.frame_multiple = 8;
  const auto batches = all_batches(gathering(options, corpus.folder() / "cache"));
  expect_same(batches, all_batches(options));
  EXPECT_EQ(batches.at(0).frames, 152);
}

/// A recording of 10 s with a transcript of `phrases` phrases of 2.5 s, for a model with a window of 4 s.
FeedOptions long_recording(const TempFolder& folder, std::size_t phrases) {
  Transcript transcript;
  for (const auto& [start, text] : {std::pair(0.1, "a"), {3.4, "b"}, {6.9, "c"}}) {
    if (transcript.segments.size() == phrases) break;
    Segment segment;
    segment.start = start;
    segment.end = start + 2.5;
    segment.text = text;
    Word word;
    word.start = start;
    word.end = start + 1;
    word.word = text;
    segment.words.push_back(word);
    transcript.segments.push_back(segment);
  }
  write_wav(folder / "long.wav", audio_of(1, 160'000));
  EXPECT_TRUE(write_file_atomically(folder / "long.json", transcript_json(transcript)));
  FeedOptions options = with_cache(options_for(folder.path()), folder / "cache");
  options.window = Seconds(4);
  options.times = true;
  options.epochs = 2;
  return options;
}

TEST(Packed, PiecesOfLongRecordingsAndTheTimesOfTextAreKept) {
  const TempFolder folder;
  const FeedOptions options = long_recording(folder, 3);
  const auto batches = all_batches(gathering(options, folder / "cache"));
  expect_same(batches, all_batches(options));
  EXPECT_THAT(ids_of(batches), testing::Contains("long#3"));
  const auto has_words = [](const BatchSample& sample) { return !sample.words.empty(); };
  EXPECT_TRUE(
      std::ranges::any_of(batches, [&](const Batch& batch) { return std::ranges::any_of(batch.samples, has_words); }));
}

TEST(Packed, GoesOnAmongManyPiecesOfOneRecording) {
  const TempFolder folder;
  FeedOptions options = long_recording(folder, 3);
  options.batch_size = options.look_ahead = 1;
  for (const FeedOptions& each : {gathering(options, folder / "cache"), options}) {
    const auto whole = all_batches(each);
    const auto expected = digests_of(whole);
    ASSERT_EQ(expected.size(), 6U);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      FeedOptions resumed = each;
      resumed.resume = whole[at].position;
      EXPECT_THAT(digests_of(all_batches(resumed)),
                  ElementsAreArray(expected.begin() + static_cast<std::ptrdiff_t>(at) + 1, expected.end()));
    }
  }
}

TEST(Packed, APositionThatNamesPiecesTheSetNoLongerHasIsRefused) {
  const TempFolder folder;
  FeedOptions options = gathering(long_recording(folder, 3), folder / "cache");
  options.batch_size = 1;
  options.resume = all_batches(options).at(0).position;
  long_recording(folder, 2);  // the third piece still waits in the position
  const auto refused = Feed::open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::corrupt);
  EXPECT_THAT(refused.error().text(), HasSubstr("transcripts have changed"));
  ASSERT_TRUE(write_file_atomically(folder / "long.json", "torn"));
  EXPECT_TRUE(Feed::open(options)) << "a recording that is bad now is left out, as any other";
}

TEST(Packed, APositionOfOtherOptionsIsRefusedBeforeAnythingIsPacked) {
  const Corpus corpus(mixed_lengths(8));
  FeedOptions options = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.resume = all_batches(options).front().position;
  options = gathering(options, corpus.folder() / "packs");
  options.seed = 5;
  EXPECT_EQ(Feed::open(options).error().fault, Fault::usage);
  EXPECT_FALSE(fs::exists(corpus.folder() / "packs"));
}

TEST(Packed, DeviceBatchListsWhatToGather) {
  const Corpus corpus(mixed_lengths(20));
  FeedOptions options = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.augmentation.spectrum = {.band_count = 1, .stretch_count = 1};
  const auto expected = all_batches(options);
  Feed feed = opened(gathering(options, corpus.folder() / "cache", Residence::device));
  const auto set = feed.packed();
  ASSERT_TRUE(set);
  const auto batches = drained(feed);
  ASSERT_EQ(batches.size(), expected.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Batch& batch = batches[i];
    ASSERT_TRUE(std::holds_alternative<BatchGather>(batch.content));
    ASSERT_EQ(batch.gather().size(), batch.samples.size());
    std::vector<float> row(static_cast<std::size_t>(batch.n_mels * batch.frames));
    for (std::size_t at = 0; at < batch.gather().size(); ++at) {
      const auto& gathered_row = batch.gather()[at];
      gather_row(*set, set->entry(gathered_row.entry), gathered_row.masks, row.data(), batch.frames);
      const float* streamed = expected[i].row(static_cast<std::int64_t>(at));
      EXPECT_TRUE(std::equal(row.begin(), row.end(), streamed)) << "batch " << i << " row " << at;
    }
  }
}

}  // namespace
}  // namespace tutti
