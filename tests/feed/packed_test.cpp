// A packed set, and batches gathered from it by index, held against the feed that reads every sample when its turn
// comes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "feed/cache/feature_cache.h"
#include "feed/corpus.h"
#include "feed/packed/gather_row.h"
#include "feed/packed/in_parallel.h"
#include "feed/packed/packed_set.h"
#include "support/environment.h"
#include "support/full_disk.h"
#include "support/log_capture.h"
#include "transcript/transcript_json.h"

namespace tutti {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

namespace fs = std::filesystem;

FeedOptions with_cache(FeedOptions options, const fs::path& folder) {
  options.cache.folder = folder;
  return options;
}

/// The same feed, gathering from a set packed in that folder.
FeedOptions gathering(FeedOptions options, const fs::path& folder, Residence where = Residence::mapped) {
  options = with_cache(std::move(options), folder);
  options.resident.where = where;
  return options;
}

std::vector<fs::path> packs_in(const fs::path& folder, const std::string& ending = ".setpack") {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  return found;
}

/// All that is known of a sample beside its features, in a form that compares.
std::string facts_of(const BatchSample& sample) {
  std::string all = sample.id + "|" + sample.text + "|" + sample.audio.string() + "|" + std::to_string(sample.start) +
                    "|" + std::to_string(sample.frames) + (sample.begins ? "|begins" : "|goes on");
  for (const auto* texts : {&sample.times, &sample.words})
    for (const TimedText& text : *texts)
      all += "|" + std::to_string(text.start) + "-" + std::to_string(text.end) + ":" + text.text;
  for (const std::string& field : sample.fields) all += "|" + field;
  return all;
}

/// Both feeds hand out the same, bit by bit.
void expect_same(const std::vector<Batch>& found, const std::vector<Batch>& expected) {
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(digests_of(found), digests_of(expected));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t row = 0; row < found[i].samples.size(); ++row)
      EXPECT_EQ(facts_of(found[i].samples[row]), facts_of(expected[i].samples[row])) << "batch " << i;
}

TEST(Packed, ABatchIsWhatTheStreamedFeedWithACacheHandsOut) {
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

TEST(Packed, WhatTheCacheHoldsIsTakenFromThere) {
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
    ASSERT_TRUE(write_file_atomically(corpus_.file(13), "this is no sound at all, whatever its name says"));
    options_.bad_limits.share = 1;
    options_.epochs = 2;
  }
  std::multiset<std::string> told(FeedOptions options, const std::string& name) const {
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

TEST_P(RottenSet, BatchesAreToppedUpAsTheStreamedFeedDoesAndTheSameSamplesTold) {
  const FeedOptions gathered = gathering(options_, corpus_.folder() / "cache");
  const auto expected = all_batches(options_);
  expect_same(all_batches(gathered), expected);
  const auto lines = told(options_, "streamed.jsonl");
  EXPECT_EQ(lines.size(), 4U);
  EXPECT_EQ(told(gathered, "gathered.jsonl"), lines);
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
  std::string lines;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::string name = "s" + std::to_string(i);
    lines += R"({"id":")" + name + R"(","audio":")" + name + R"(.wav","text":"x","duration":)" +
             std::to_string(std::min(seconds[i], 1.0)) + "}\n";
  }
  corpus.write(lines);
  FeedOptions options = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.batch_size = 5;
  options.frame_multiple = 8;
  const auto batches = all_batches(gathering(options, corpus.folder() / "cache"));
  expect_same(batches, all_batches(options));
  EXPECT_EQ(batches.at(0).frames, 152);
}

/// A recording of 10 s with a transcript of so many phrases of 2.5 s, for a model that hears 4 s.
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
  write_wav(folder / "long.wav", sound_of(1, 160'000));
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
  EXPECT_FALSE(batches.at(0).samples.at(1).words.empty());
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

TEST(Packed, ForADeviceABatchSaysWhatToGather) {
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
    EXPECT_EQ(batch.mel.data(), nullptr);
    ASSERT_EQ(batch.places.size(), batch.samples.size());
    std::vector<float> row(static_cast<std::size_t>(batch.n_mels * batch.frames));
    for (std::size_t at = 0; at < batch.places.size(); ++at) {
      const auto& place = batch.places[at];
      gather_row(*set, set->entry(place.entry), place.masks, row.data(), batch.frames);
      const float* streamed = expected[i].row(static_cast<std::int64_t>(at));
      EXPECT_TRUE(std::equal(row.begin(), row.end(), streamed)) << "batch " << i << " row " << at;
    }
  }
}

/// How often the set was packed, and the batches of opening it so often.
struct Packings {
  int packed = 0, damaged = 0;
  std::vector<std::string> batches{};
};

Packings batches_of(const FeedOptions& options) {
  LogCapture log;
  auto batches = digests_of(all_batches(options));
  return {log.count("samples into"), log.count("is packed anew"), std::move(batches)};
}

TEST(Packed, ASetIsPackedOnceAndAgainWhenAFileOfItChanges) {
  const Corpus corpus({1.0, 1.5, 2.0});
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto first = batches_of(options), second = batches_of(options);
  EXPECT_EQ(first.packed, 1);
  EXPECT_EQ(second.packed, 0);
  EXPECT_EQ(second.batches, first.batches);
  const auto size = fs::file_size(corpus.file(1));
  const auto time = fs::last_write_time(corpus.file(1));
  write_wav(corpus.file(1), sound_of(77, 24'000));
  fs::last_write_time(corpus.file(1), time);
  ASSERT_EQ(fs::file_size(corpus.file(1)), size) << "neither its size nor its time tells";
  const auto changed = batches_of(options);
  EXPECT_EQ(changed.packed, 1);
  EXPECT_NE(changed.batches, first.batches);
  EXPECT_EQ(changed.batches, digests_of(all_batches(with_cache(options_for(corpus.manifest()), options.cache.folder))));
}

TEST(Packed, ADamagedPackIsToldAndMadeAnew) {
  const Corpus corpus(mixed_lengths(10));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto whole = batches_of(options);
  const fs::path pack = packs_in(options.cache.folder).at(0);
  const std::string bytes = read_file(pack).value();
  const auto flipped = [&](std::size_t at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    return other;
  };
  for (const std::string& broken :
       {flipped(8), flipped(100), flipped(bytes.size() / 2), flipped(20), flipped(bytes.size() - 10),
        bytes.substr(0, bytes.size() / 2), bytes + "more", std::string("short"), std::string()}) {
    ASSERT_TRUE(write_file_atomically(pack, broken));
    const auto mended = batches_of(options);
    EXPECT_EQ(mended.damaged, 1);
    EXPECT_EQ(mended.packed, 1);
    EXPECT_EQ(mended.batches, whole.batches);
    EXPECT_EQ(batches_of(options).packed, 0);
  }
}

TEST(Packed, WhatAKilledProcessLeftHalfPackedIsNeverReadAndClearedAway) {
  const Corpus corpus(mixed_lengths(10));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto whole = batches_of(options);
  const fs::path pack = packs_in(options.cache.folder).at(0);
  fs::path half = pack;
  half += ".half";
  fs::rename(pack, half);  // all of it, but nobody gave it its name
  const auto again = batches_of(options);
  EXPECT_EQ(again.packed, 1);
  EXPECT_EQ(again.batches, whole.batches);
  EXPECT_TRUE(packs_in(options.cache.folder, ".half").empty());
}

TEST(Packed, OfSeveralProcessesOnePacksAndTheOthersWaitForIt) {
  const Corpus corpus(mixed_lengths(30));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  LogCapture log;
  std::vector<std::vector<std::string>> found(4);
  {
    std::vector<std::jthread> processes;  // locks are each opening's own, whosever it is
    for (auto& batches : found) processes.emplace_back([&] { batches = digests_of(all_batches(options)); });
  }
  EXPECT_EQ(log.count("samples into"), 1);
  for (const auto& batches : found) EXPECT_EQ(batches, found.front());
  EXPECT_FALSE(found.front().empty());
}

TEST(Packed, PacksOfOtherSetsGoWhereTheBoundIsReached) {
  const TempFolder cache;
  const Corpus first(std::vector<double>(4, 1.0)), second(std::vector<double>(4, 1.0));
  FeedOptions options = gathering(options_for(first.manifest()), cache.path());
  all_batches(options);
  const auto old = packs_in(cache.path());
  options.cache.most = Bytes{static_cast<std::int64_t>(fs::file_size(old.at(0))) * 3 / 2};
  options.data = second.manifest();
  const auto expected = all_batches(options);
  ASSERT_EQ(packs_in(cache.path()).size(), 1U);
  EXPECT_NE(packs_in(cache.path()), old);
  expect_same(all_batches(options), expected);
}

Error refusal(const FeedOptions& options) {
  const auto feed = Feed::open(options);
  return feed ? Error{Fault::internal, "was not refused"} : feed.error();
}

TEST(Packed, WhatMemoryOrTheCacheCannotHoldIsRefusedBeforeAnyWork) {
  const Corpus corpus(mixed_lengths(10));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache", Residence::memory);
  options.resident.room = Bytes{100'000};
  const Error memory = refusal(options);
  EXPECT_EQ(memory.fault, Fault::exhausted);
  EXPECT_THAT(memory.text(),
              testing::AllOf(HasSubstr("data-set memory"), HasSubstr("room for 100 kB"), HasSubstr("data-set mapped")));
  EXPECT_TRUE(packs_in(options.cache.folder).empty());
  options.resident.room = Bytes{100 << 20};
  options.cache.most = Bytes{100'000};
  const Error cache = refusal(options);
  EXPECT_EQ(cache.fault, Fault::usage);
  EXPECT_THAT(cache.text(), HasSubstr("cache-gigabytes"));
  EXPECT_TRUE(packs_in(options.cache.folder).empty());
  options.cache.most = Bytes{100 << 20};
  const auto expected = all_batches(options);
  options.resident.room = Bytes{100'000};
  EXPECT_EQ(refusal(options).fault, Fault::exhausted) << "packed already, and still too large";
  options.resident.where = Residence::mapped;
  expect_same(all_batches(options), expected);
}

TEST(Packed, WhatChangesInEveryEpochIsRefused) {
  const Corpus corpus({1.0});
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  FeedOptions other = options;
  other.augmentation.gain_share = 0.5;
  EXPECT_EQ(refusal(other).fault, Fault::usage);
  other = options;
  other.chunking = Chunking::random;
  EXPECT_EQ(refusal(other).fault, Fault::usage);
  other = options;
  other.cache.folder.clear();
  EXPECT_EQ(refusal(other).fault, Fault::usage);
}

TEST(Packed, WhereTheDiskIsFullSamplesAreReadOneByOneAndThatIsSaidOnce) {
  const Corpus corpus(mixed_lengths(20));
  const FeedOptions streamed = with_cache(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto expected = all_batches(streamed);
  const auto expect_streamed = [&](const FeedOptions& options) {
    LogCapture log;
    Feed feed = opened(options);
    EXPECT_EQ(digests_of(drained(feed)), digests_of(expected));
    EXPECT_EQ(feed.packed(), nullptr);
    EXPECT_EQ(log.count("the set is not packed"), 1);
  };
  {
    const FullDisk full(50'000);
    expect_streamed(gathering(streamed, corpus.folder() / "full", Residence::device));
  }
  EXPECT_TRUE(packs_in(corpus.folder() / "full").empty());
  EXPECT_TRUE(packs_in(corpus.folder() / "full", ".half").empty());
  // A folder in which nobody can make a file, the superuser included.
  expect_streamed(gathering(streamed, "/proc/self/fdinfo"));
}

TEST(Packed, WhatTheMachineLacksNowMakesNoSampleBadForGood) {
  const Corpus corpus(mixed_lengths(5), /*with_durations=*/true);
  ASSERT_TRUE(write_file_atomically(corpus.file(2), "this is no sound at all: only a decoding child can say so"));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.bad_limits.share = 1;
  {
    const ScopedVariable temporary("TMPDIR", (corpus.folder() / "nowhere").c_str());  // where that child writes
    LogCapture log;
    Feed feed = opened(options);
    drained(feed);
    EXPECT_EQ(feed.packed(), nullptr);
    EXPECT_EQ(log.count("the set is not packed, each sample is read when its turn comes: s2: "), 1);
    EXPECT_TRUE(packs_in(options.cache.folder).empty());
  }
  Feed feed = opened(options);
  EXPECT_NE(feed.packed(), nullptr);
  drained(feed);
  EXPECT_EQ(feed.report().bad_samples, 1) << "its content is, which is kept";
}

TEST(Packed, APackThatCannotBeOpenedIsNotTakenForADamagedOne) {
  const Corpus corpus(mixed_lengths(5));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto expected = digests_of(all_batches(options));
  const fs::path pack = packs_in(options.cache.folder).at(0);
  fs::remove(pack);
  fs::create_directory(pack);  // what not even the superuser can map
  LogCapture log;
  EXPECT_EQ(digests_of(all_batches(options)), expected);
  EXPECT_EQ(log.count("is packed anew"), 0);
  EXPECT_EQ(log.count("the set is not packed"), 1);
}

TEST(Packed, OnlyItsOwnHalfPacksAreClearedAway) {
  const Corpus corpus(mixed_lengths(3));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder().path());
  ASSERT_TRUE(write_file_atomically(corpus.folder() / "moon.half", "somebody's own file"));
  ASSERT_TRUE(write_file_atomically(corpus.folder() / "old.setpack.half", "what a killed process left"));
  all_batches(options);
  EXPECT_TRUE(fs::exists(corpus.folder() / "moon.half"));
  EXPECT_FALSE(fs::exists(corpus.folder() / "old.setpack.half"));
}

TEST(InParallel, CallsEachOnceAndEndsWithTheFirstError) {
  std::vector<std::atomic<int>> calls(1000);
  const auto count = [&](std::int64_t i) {
    ++calls[static_cast<std::size_t>(i)];
    return Result<void>();
  };
  EXPECT_TRUE(in_parallel(1000, 8, count));
  for (const auto& times : calls) EXPECT_EQ(times.load(), 1);
  EXPECT_TRUE(in_parallel(0, 8, count));
  const auto failed = in_parallel(1000, 8, [](std::int64_t i) -> Result<void> {
    if (i == 500) return fail(Fault::corrupt, "the five hundredth");
    return {};
  });
  EXPECT_EQ(failed.error().what, "the five hundredth");
  const auto thrown = in_parallel(10, 2, [](std::int64_t) -> Result<void> { throw std::runtime_error("a bug"); });
  EXPECT_THAT(thrown.error().what, HasSubstr("a bug"));
}

}  // namespace
}  // namespace tutti
