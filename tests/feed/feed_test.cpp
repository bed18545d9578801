
#include "public/tutti/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "audio/mel/log_mel.h"
#include "audio/pcm_samples.h"
#include "base/json.h"
#include "feed/corpus.h"

namespace tutti {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("s" + std::to_string(i));
  return names;
}

TEST(Feed, HandsOutEverySampleOfAnEpochOnce) {
  const Corpus corpus(mixed_lengths(50));
  const auto ids = ids_of(all_batches(options_for(corpus.manifest())));
  EXPECT_THAT(ids, testing::UnorderedElementsAreArray(names(50)));
  EXPECT_NE(ids, names(50)) << "not shuffled";
}

/// Every row is the log-mel of its sample's audio alone, and silence behind it. `seconds`: those of the corpus.
void expect_log_mels(const std::vector<Batch>& batches, const std::vector<double>& seconds, double most = 1e-6) {
  const LogMel log_mel(80);
  for (const Batch& batch : batches)
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      const BatchSample& sample = batch.samples[static_cast<std::size_t>(row)];
      const auto number = std::stoul(sample.id.substr(1));
      const auto pcm = audio_of(number, std::llround(seconds[number] * 16000));
      ASSERT_EQ(sample.frames, std::ssize(pcm) / 160);
      // Three frames more than the content: so many may straddle its end.
      const auto expected = log_mel.window(PcmSamples(pcm), 0, std::max<std::int64_t>(batch.frames, sample.frames + 3));
      ASSERT_TRUE(expected);
      const auto width = static_cast<std::int64_t>(expected->size()) / 80;
      for (std::int64_t bin = 0; bin < 80; ++bin)
        for (std::int64_t frame = 0; frame < batch.frames; ++frame)
          ASSERT_NEAR(batch.row(row)[bin * batch.frames + frame],
                      (*expected)[static_cast<std::size_t>(bin * width + frame)], most)
              << sample.id << " bin " << bin << " frame " << frame << " of " << sample.frames;
    }
}

/// One batch of rows of so many frames, each what it is on its own: computed, put into a cache, and out of that.
void expect_rows_on_their_own(const Corpus& corpus, FeedOptions options, const std::vector<double>& seconds,
                              std::int64_t frames) {
  const auto batches = all_batches(options);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].frames, frames);
  expect_log_mels(batches, seconds);
  options.cache.folder = corpus.folder() / "cache";
  expect_log_mels(all_batches(options), seconds, 2e-3);
  expect_log_mels(all_batches(options), seconds, 2e-3);
}

TEST(Feed, ARowHoldsTheLogMelOfItsFileAndSilenceBehindIt) {
  const Corpus corpus(mixed_lengths(10));
  const auto batches = all_batches(options_for(corpus.manifest()));
  expect_log_mels(batches, mixed_lengths(10));
  for (const Batch& batch : batches)
    for (const BatchSample& sample : batch.samples) EXPECT_EQ(sample.text, "text " + sample.id.substr(1));
}

TEST(Feed, BatchesAreTheSameWithOneTwoAndEightThreads) {
  const Corpus corpus(mixed_lengths(60), false, 22050);
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 2;
  options.threads = FeedThreads::of(1);
  const auto one = digests_of(all_batches(options));
  for (const int threads : {2, 8}) {
    options.threads = FeedThreads::of(1, threads);
    EXPECT_EQ(digests_of(all_batches(options)), one) << threads << " that read";
    options.threads = FeedThreads::of(threads, threads);
    EXPECT_EQ(digests_of(all_batches(options)), one) << threads;
  }
}

TEST(Feed, BatchesAreTheSameWhereMoreOfThemWait) {
  const Corpus corpus(mixed_lengths(60));
  FeedOptions options = options_for(corpus.manifest());
  const auto usual = digests_of(all_batches(options));
  auto feed = Feed::open(options);
  ASSERT_TRUE(feed);
  std::vector<Batch> batches;
  for (int more = 0; auto batch = feed->next().value(); more += 3) {
    batches.push_back(std::move(*batch));
    feed->deepen(more);
  }
  EXPECT_EQ(digests_of(batches), usual);
}

TEST(Feed, EpochsAreInDifferentOrdersAndSeedsToo) {
  const Corpus corpus(mixed_lengths(40));
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 2;
  const auto ids = ids_of(all_batches(options));
  ASSERT_EQ(ids.size(), 80U);
  EXPECT_FALSE(std::equal(ids.begin(), ids.begin() + 40, ids.begin() + 40));
  options.seed = 1;
  EXPECT_NE(ids_of(all_batches(options)), ids);
}

TEST(Feed, ResumesWithTheExactNextSampleWhereverItWasLeft) {
  std::vector<double> lengths = mixed_lengths(80);  // so many that the look-ahead is full at most positions
  for (double& seconds : lengths) seconds /= 4;
  const Corpus corpus(lengths);
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 2;
  const auto whole = all_batches(options);
  const auto expected = digests_of(whole);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    options.resume = whole[at].position;
    options.threads = FeedThreads::of(1 + static_cast<int>(at % 3));
    const auto rest = digests_of(all_batches(options));
    EXPECT_THAT(rest, ElementsAreArray(expected.begin() + static_cast<std::ptrdiff_t>(at) + 1, expected.end()))
        << "after batch " << at;
  }
}

TEST(Feed, RefusesAPositionOfAnotherSetOrOtherOptions) {
  const Corpus corpus(mixed_lengths(8)), other(mixed_lengths(9));
  FeedOptions options = options_for(corpus.manifest());
  const std::string position = all_batches(options).front().position;
  options.resume = position;
  options.seed = 5;
  EXPECT_EQ(Feed::open(options).error().fault, Fault::usage);
  options = options_for(other.manifest());
  options.resume = position;
  EXPECT_EQ(Feed::open(options).error().fault, Fault::usage);
}

/// Thirty samples, of which some are bad in different ways.
class RottenCorpus : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(corpus_.file(3));
    (void)write_file_atomically(corpus_.file(7), "");
    auto cut = *read_file(corpus_.file(11));
    (void)write_file_atomically(corpus_.file(11), cut.substr(0, cut.size() / 2));
    (void)write_file_atomically(corpus_.file(13), "this is no audio at all, despite its name");
    options_.bad_samples = corpus_.folder() / "bad.jsonl";
    options_.bad_limits.share = 1;
  }
  std::set<std::string> reported() const {
    std::set<std::string> ids;
    const std::string lines = *read_file(options_.bad_samples);
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
      EXPECT_TRUE(ids.insert(nlohmann::json::parse(lines.substr(at, lines.find('\n', at) - at))["id"]).second);
    return ids;
  }

  Corpus corpus_{mixed_lengths(30), true};  // with durations: nothing is found out before decoding
  FeedOptions options_ = options_for(corpus_.manifest());
};

TEST_F(RottenCorpus, BadSamplesAreReportedOnceAndTheirBatchesToppedUp) {
  options_.epochs = 2;
  const auto batches = all_batches(options_);
  EXPECT_EQ(reported(), (std::set<std::string>{"s3", "s7", "s11", "s13"}));
  std::size_t full = 0;
  for (const Batch& batch : batches) full += batch.size() == 4;
  EXPECT_EQ(ids_of(batches).size(), 52U);
  EXPECT_GE(full, 12U) << "26 good samples an epoch fill six batches";
}

TEST_F(RottenCorpus, TopsUpTheSameWithAnyNumberOfThreadsAndAfterEveryResume) {
  options_.threads = FeedThreads::of(1);
  const auto whole = all_batches(options_);
  const auto expected = digests_of(whole);
  options_.threads = FeedThreads::of(8);
  EXPECT_EQ(digests_of(all_batches(options_)), expected);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    options_.resume = whole[at].position;
    EXPECT_THAT(digests_of(all_batches(options_)),
                ElementsAreArray(expected.begin() + static_cast<std::ptrdiff_t>(at) + 1, expected.end()));
  }
}

TEST_F(RottenCorpus, StopsWhereMoreIsBadThanMayBe) {
  options_.bad_limits.count = 2;
  Feed feed = opened(options_);
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  do batch = feed.next();
  while (batch && *batch);
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().fault, Fault::corrupt);
  EXPECT_THAT(batch.error().what, HasSubstr("3 of"));
}

TEST(Feed, ASetOfWhichNothingCanBeUsedIsAnErrorEvenWithoutAnEndOfEpochs) {
  for (const bool with_durations : {false, true}) {  // found out when probed, or when read
    const Corpus corpus({1.0, 1.0, 1.0}, with_durations);
    for (std::size_t i = 0; i < 3; ++i) std::filesystem::remove(corpus.file(i));
    FeedOptions options = options_for(corpus.manifest());
    options.epochs = 0;
    options.bad_samples = corpus.folder() / "bad.jsonl";
    Feed feed = opened(options);
    const auto batch = feed.next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().fault, Fault::corrupt);
    EXPECT_THAT(batch.error().text(), testing::AllOf(HasSubstr("3 are bad. The last one, s"), HasSubstr("No such file"),
                                                     HasSubstr("bad.jsonl")));
    EXPECT_THAT(feed.report().last_bad, HasSubstr("No such file"));
  }
}

TEST(Feed, ASetThatBecomesUnusableEndsWithTheEpochThatGaveNothing) {
  const Corpus corpus(std::vector<double>(8, 0.5));
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 0;
  Feed feed = opened(options);
  ASSERT_TRUE(*feed.next());
  for (std::size_t i = 0; i < 8; ++i) std::filesystem::remove(corpus.file(i));
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  do batch = feed.next();
  while (batch && *batch);
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().what, HasSubstr("8 are bad"));
}

TEST(Feed, ABatchThatHasToGrowBeyondItsPlanKeepsToTheMultipleOfFrames) {
  Corpus corpus({1.234, 0.5});
  corpus.write(R"({"id":"s0","audio":"s0.wav","text":"one","duration":1.0}
{"id":"s1","audio":"s1.wav","text":"two","duration":0.5}
)");
  FeedOptions options = options_for(corpus.manifest());
  options.frame_multiple = 8;
  const auto batches = all_batches(options);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].frames, 128) << "the longest has 124, the manifest lets expect 100";
  EXPECT_EQ(batches[0].samples.size(), 2U);
}

TEST(Feed, RowInABatchThatGrewEqualsItselfAlone) {
  // The first makes the planned 100 frames 150; the next three leave 0, 3 and 4 of the 100 free.
  const std::vector<double> seconds{1.5, 1.0, 0.97, 0.965, 0.5};
  Corpus corpus(seconds);
  corpus.claim({1.0, 1.0, 0.97, 0.965, 0.5});
  FeedOptions options = options_for(corpus.manifest());
  options.batch_size = 5;
  expect_rows_on_their_own(corpus, options, seconds, 150);
}

TEST(Feed, AudioLongerThanTheWindowWithoutTimesIsRefusedNotCut) {
  const Corpus corpus({1.0, 2.0, 3.0, 1.5});
  FeedOptions options = options_for(corpus.manifest());
  options.window = Seconds(2.5);
  options.bad_samples = corpus.folder() / "bad.jsonl";
  EXPECT_THAT(ids_of(all_batches(options)), testing::UnorderedElementsAre("s0", "s1", "s3"));
  EXPECT_THAT(*read_file(options.bad_samples), HasSubstr("lasts 3.00 s"));
}

TEST(Feed, WrongManifestDurationCostsPaddingButNoAudio) {
  Corpus corpus({1.0, 2.0});
  corpus.write(R"({"id":"s0","audio":"s0.wav","text":"a","duration":1.0})"
               "\n"
               R"({"id":"s1","audio":"s1.wav","text":"b","duration":0.5})"
               "\n");
  const auto batches = all_batches(options_for(corpus.manifest()));
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].frames, 200);
  EXPECT_EQ(batches[0].samples[batches[0].samples[0].id == "s1" ? 0 : 1].frames, 200);
}

TEST(Feed, PartBeyondTheEndOfItsFileIsABadSample) {
  Corpus corpus({2.0, 2.0});
  corpus.write(R"({"id":"s0","audio":"s0.wav","text":"a","start":0.5,"end":2.05})"
               "\n"
               R"({"id":"s1","audio":"s1.wav","text":"b","start":0.5,"end":2.5})"
               "\n");
  FeedOptions options = options_for(corpus.manifest());
  options.bad_samples = corpus.folder() / "bad.jsonl";
  const auto batches = all_batches(options);
  EXPECT_THAT(ids_of(batches), testing::ElementsAre("s0")) << "a time that is rounded is no lie";
  EXPECT_EQ(batches.at(0).samples.at(0).frames, 150);
  EXPECT_THAT(*read_file(options.bad_samples), HasSubstr("lasts 2.00 s, and is requested up to second 2.50"));
}

TEST(Feed, WindowPaddingMakesRowsAsLongAsTheWindow) {
  const Corpus corpus({1.0, 2.0, 0.5});
  FeedOptions options = options_for(corpus.manifest());
  options.padding = Padding::window;
  Feed feed = opened(options);
  const auto batches = drained(feed);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].frames, 3000);
  EXPECT_NEAR(feed.report().padding_share(), 1 - 350 / 9000.0, 1e-9);
}

TEST(Feed, RowPaddedToTheWindowEqualsItselfAlone) {
  const std::vector<double> seconds{3.0, 2.99, 2.97, 1.0, 0.5};  // of which 0, 1 and 3 frames are free
  const Corpus corpus(seconds);
  FeedOptions options = options_for(corpus.manifest());
  options.padding = Padding::window;
  options.window = Seconds(3);
  options.batch_size = 5;
  expect_rows_on_their_own(corpus, options, seconds, 300);
}

TEST(Feed, RowsAsLongAsTheWindowCountAsSuchAgainstTheAudioOfABatch) {
  const Corpus corpus(std::vector<double>(5, 0.5));
  FeedOptions options = options_for(corpus.manifest());
  options.padding = Padding::window;
  options.window = Seconds(2);
  const auto sizes = [&](double seconds) {
    options.batch_audio = Seconds(seconds);
    std::vector<std::int64_t> counts;
    for (const Batch& batch : all_batches(options)) counts.push_back(batch.size());
    return counts;
  };
  EXPECT_THAT(sizes(5), testing::ElementsAre(2, 2, 1));
  EXPECT_THAT(sizes(1), testing::ElementsAre(1, 1, 1, 1, 1)) << "a single one is always allowed";
  EXPECT_THAT(sizes(100), testing::ElementsAre(4, 1));
}

TEST(Feed, WordTimesAreDeliveredOnRequestAndFollowSpeed) {
  Corpus corpus({1.0});
  corpus.write(R"({"id":"s0","audio":"s0.wav","text":"a b","words":[{"word":"a","start":0.2,"end":0.4},)"
               R"({"word":" b","start":0.5,"end":0.8}]})");
  FeedOptions options = options_for(corpus.manifest());
  Feed untimed = opened(options);
  EXPECT_TRUE(drained(untimed).at(0).samples.at(0).words.empty());
  options.times = true;
  options.augmentation = {.speed_share = 1, .speed = {1.25, 1.25}};
  Feed feed = opened(options);
  const auto batches = drained(feed);
  const auto& words = batches.at(0).samples.at(0).words;
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[1].text, " b");
  EXPECT_NEAR(words[1].start, 0.5 / 1.25, 1e-9);
  EXPECT_NEAR(words[1].end, 0.8 / 1.25, 1e-9);
}

TEST(Feed, AWordWithoutTimesIsABadSample) {
  Corpus corpus({1.0, 1.0});
  corpus.write(
      "{\"id\":\"s0\",\"audio\":\"s0.wav\",\"text\":\"a\",\"words\":[\"a\"]}\n"
      "{\"id\":\"s1\",\"audio\":\"s1.wav\",\"text\":\"b\"}");
  Feed feed = opened(options_for(corpus.manifest()));
  const auto batches = drained(feed);
  ASSERT_EQ(batches.at(0).samples.size(), 1U);
  EXPECT_EQ(batches[0].samples[0].id, "s1");
}

TEST(Feed, LikeLengthsGoTogether) {
  const Corpus corpus(mixed_lengths(300));
  FeedOptions options = options_for(corpus.manifest());
  options.look_ahead = 128;
  Feed feed = opened(options);
  drained(feed);
  EXPECT_LE(feed.report().padding_share(), 0.05);
  options.look_ahead = 1;
  Feed plain = opened(options);
  drained(plain);
  EXPECT_GE(plain.report().padding_share(), 0.2);
}

TEST(Feed, AugmentationDependsOnEpochButNotOnThreadsOrResume) {
  const Corpus corpus(mixed_lengths(24));
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 2;
  options.shuffle = false;
  options.look_ahead = 1;
  const auto plain = all_batches(options);
  options.augmentation = {.speed_share = 0.5,
                          .gain_share = 0.5,
                          .noise_share = 0.5,
                          .room_share = 0.5,
                          .spectrum = {.band_count = 1, .stretch_count = 1}};
  const auto whole = all_batches(options);
  const auto expected = digests_of(whole);
  EXPECT_EQ(ids_of(whole), ids_of(plain));
  EXPECT_FALSE(std::equal(whole[0].row(0), whole[0].row(0) + 100, plain[0].row(0)));
  EXPECT_FALSE(std::equal(whole[0].row(0), whole[0].row(0) + 100, whole[6].row(0))) << "the next epoch";
  options.threads = FeedThreads::of(8);
  EXPECT_EQ(digests_of(all_batches(options)), expected);
  options.resume = whole[4].position;
  EXPECT_THAT(digests_of(all_batches(options)), ElementsAreArray(expected.begin() + 5, expected.end()));
}

TEST(Feed, RanksShareAnEpochWithoutOverlap) {
  const Corpus corpus(mixed_lengths(21));
  FeedOptions options = options_for(corpus.manifest());
  options.ranks = 2;
  auto ids = ids_of(all_batches(options));
  EXPECT_EQ(ids.size(), 11U);
  options.rank = 1;
  for (auto& id : ids_of(all_batches(options))) ids.push_back(id);
  EXPECT_THAT(ids, testing::UnorderedElementsAreArray(names(21)));
}

TEST(Feed, TwoRanksTogetherTakeTheBatchesOfOneWithTwiceTheSize) {
  const Corpus corpus(mixed_lengths(32));
  FeedOptions options = options_for(corpus.manifest());
  options.look_ahead = 1;
  options.ranks = 2;
  const auto first = all_batches(options);
  options.rank = 1;
  const auto second = all_batches(options);
  options.rank = 0;
  options.ranks = 1;
  options.batch_size = 8;
  const auto both = all_batches(options);
  ASSERT_EQ(both.size(), first.size());
  for (std::size_t i = 0; i < both.size(); ++i) {
    std::set<std::string> shared, whole;
    for (const auto* part : {&first[i], &second[i]})
      for (const auto& sample : part->samples) shared.insert(sample.id);
    for (const auto& sample : both[i].samples) whole.insert(sample.id);
    EXPECT_EQ(shared, whole);
  }
}

TEST(Feed, DestructionMidEpochEndsItsThreads) {
  const Corpus corpus(mixed_lengths(40));
  FeedOptions options = options_for(corpus.manifest());
  options.epochs = 0;
  Feed feed = opened(options);
  ASSERT_TRUE(feed.next());
}

TEST(Feed, ABatchOutlivesItsFeed) {
  const Corpus corpus(mixed_lengths(12));
  std::optional<Feed> feed = opened(options_for(corpus.manifest()));
  const Batch batch = std::move(**feed->next());
  const std::string before = digest_of(batch);
  feed.reset();
  EXPECT_EQ(digest_of(batch), before);
}

}  // namespace
}  // namespace tutti
