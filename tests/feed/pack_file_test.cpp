// The file of a packed set: when it is made, what becomes of damage, half packs, full disks and what a machine lacks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>

#include "feed/packed/in_parallel.h"
#include "feed/packing.h"
#include "support/environment.h"
#include "support/full_disk.h"
#include "support/log_capture.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// How often the set was packed, and the batches of opening it so often.
struct Packings {
  int packed = 0, damaged = 0;
  std::vector<std::string> batches{};
};

Packings batches_of(const FeedOptions& options) {
  LogCapture log;
  auto batches = digests_of(all_batches(options));
  return {log.count("samples into"), log.count("is packed again"), std::move(batches)};
}

TEST(PackFile, ASetIsPackedOnceAndAgainWhenAFileOfItChanges) {
  const Corpus corpus({1.0, 1.5, 2.0});
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto first = batches_of(options), second = batches_of(options);
  EXPECT_EQ(first.packed, 1);
  EXPECT_EQ(second.packed, 0);
  EXPECT_EQ(second.batches, first.batches);
  const auto size = fs::file_size(corpus.file(1));
  const auto time = fs::last_write_time(corpus.file(1));
  write_wav(corpus.file(1), audio_of(77, 24'000));
  fs::last_write_time(corpus.file(1), time);
  ASSERT_EQ(fs::file_size(corpus.file(1)), size) << "neither its size nor its time differs";
  const auto changed = batches_of(options);
  EXPECT_EQ(changed.packed, 1);
  EXPECT_NE(changed.batches, first.batches);
  EXPECT_EQ(changed.batches, digests_of(all_batches(with_cache(options_for(corpus.manifest()), options.cache.folder))));
}

TEST(PackFile, DamagedPackIsReportedAndRebuilt) {
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

TEST(PackFile, OneOfSeveralProcessesPacksAndTheOthersWait) {
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

TEST(PackFile, PacksOfOtherSetsGoWhereTheBoundIsReached) {
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

TEST(PackFile, SetTooLargeForMemoryOrCacheIsRefusedBeforeWork) {
  const Corpus corpus(mixed_lengths(10));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache", Residence::memory);
  options.resident.space = Bytes{100'000};
  const Error memory = refusal(options);
  EXPECT_EQ(memory.fault, Fault::exhausted);
  EXPECT_THAT(memory.text(), testing::AllOf(HasSubstr("data-set memory"), HasSubstr("space for 100 kB"),
                                            HasSubstr("data-set mapped")));
  EXPECT_TRUE(packs_in(options.cache.folder).empty());
  options.resident.space = Bytes{100 << 20};
  options.cache.most = Bytes{100'000};
  const Error cache = refusal(options);
  EXPECT_EQ(cache.fault, Fault::usage);
  EXPECT_THAT(cache.text(), HasSubstr("cache-gigabytes"));
  EXPECT_TRUE(packs_in(options.cache.folder).empty());
  options.cache.most = Bytes{100 << 20};
  const auto expected = all_batches(options);
  options.resident.space = Bytes{100'000};
  EXPECT_EQ(refusal(options).fault, Fault::exhausted) << "packed already, and still too large";
  options.resident.where = Residence::mapped;
  expect_same(all_batches(options), expected);
}

TEST(PackFile, OptionsThatVaryPerEpochAreRefused) {
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

TEST(PackFile, FullDiskFallsBackToStreamingAndWarnsOnce) {
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
  // A folder in which not even the superuser can create a file.
  expect_streamed(gathering(streamed, "/proc/self/fdinfo"));
}

TEST(PackFile, MissingTempFolderMarksNoSampleAsBad) {
  const Corpus corpus(mixed_lengths(5), /*with_durations=*/true);
  ASSERT_TRUE(write_file_atomically(corpus.file(2), "this is no sound at all: only a decoding child can say so"));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.bad_limits.share = 1;
  {
    const ScopedVariable temporary("TMPDIR", (corpus.folder() / "nowhere").c_str());  // where that child writes
    LogCapture log;
    Feed feed = opened(options);
    EXPECT_EQ(feed.packed(), nullptr);
    EXPECT_ANY_THROW(drained(feed)) << "nor can it be read when its turn comes, for no fault of its own";
    EXPECT_EQ(feed.report().bad_samples, 0);
    EXPECT_EQ(log.count("the set is not packed, each sample is read when its turn comes: s2: "), 1);
    EXPECT_TRUE(packs_in(options.cache.folder).empty());
  }
  Feed feed = opened(options);
  EXPECT_NE(feed.packed(), nullptr);
  drained(feed);
  EXPECT_EQ(feed.report().bad_samples, 1) << "its content is, which is kept";
}

TEST(PackFile, APackThatCannotBeOpenedIsNotTakenForADamagedOne) {
  const Corpus corpus(mixed_lengths(5));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto expected = digests_of(all_batches(options));
  const fs::path pack = packs_in(options.cache.folder).at(0);
  fs::remove(pack);
  fs::create_directory(pack);  // what not even the superuser can map
  LogCapture log;
  EXPECT_EQ(digests_of(all_batches(options)), expected);
  EXPECT_EQ(log.count("is packed again"), 0);
  EXPECT_EQ(log.count("the set is not packed"), 1);
}

TEST(PackFile, HalfPacksOfOtherSetsAreClearedAwayAndNothingElse) {
  const Corpus corpus(mixed_lengths(3));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder().path());
  ASSERT_TRUE(write_file_atomically(corpus.folder() / "moon.half", "a user's own file"));
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
  const auto full = in_parallel(10, 2, [](std::int64_t) -> Result<void> { throw std::bad_alloc(); });
  EXPECT_EQ(full.error().fault, Fault::exhausted);
}

}  // namespace
}  // namespace tutti
