#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>

#include "base/log.h"
#include "feed/corpus.h"
#include "feed/feature_cache.h"

namespace tutti {
namespace {

CachedFeatures features_of(std::uint16_t value, std::size_t size = 1000) {
  return {10, 13, -0.5F, 0.25F, std::vector<std::uint16_t>(size, value)};
}

CacheKey key_of(double number) {
  return cache_key({}, std::array{number});
}

std::int64_t bytes_in(const std::filesystem::path& folder) {
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    bytes += static_cast<std::int64_t>(entry.file_size());
  return bytes;
}

TEST(Half, RoundsToTheNearestOfElevenBits) {
  for (float value = -1.6F; value < 3; value += 0.00037F) {
    EXPECT_NEAR(from_half(to_half(value)), value, std::abs(value) / 2048 + 1e-7F);
    EXPECT_EQ(to_half(from_half(to_half(value))), to_half(value));
  }
  EXPECT_EQ(from_half(to_half(1.0F)), 1.0F);
  EXPECT_EQ(to_half(-2.0F), 0xc000);
  EXPECT_EQ(from_half(to_half(1e9F)), 65504.0F);
}

TEST(CacheKey, DependsOnEveryByteTheirNumberAndEveryParameter) {
  std::vector<std::byte> content(100);
  std::set<CacheKey> keys{cache_key(content, {})};
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = std::byte{1};
    EXPECT_TRUE(keys.insert(cache_key(content, {})).second) << i;
    content[i] = std::byte{0};
  }
  EXPECT_TRUE(keys.insert(cache_key(std::span(content).first(99), {})).second);
  EXPECT_TRUE(keys.insert(cache_key(content, std::array{1.0})).second);
  EXPECT_TRUE(keys.insert(cache_key(content, std::array{1.0, 2.0})).second);
}

TEST(FeatureCache, FindsWhatAnotherProcessStored) {
  const TempFolder folder;
  const FeatureCacheOptions options{folder.path(), Bytes{1 << 20}};
  {
    const auto cache = *FeatureCache::open(options);
    EXPECT_FALSE(cache->find(key_of(1)));
    ASSERT_TRUE(cache->store(key_of(1), features_of(7)));
    ASSERT_TRUE(cache->store(key_of(2), features_of(8)));
  }
  const auto again = *FeatureCache::open(options);
  const auto found = again->find(key_of(2));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mel, features_of(8).mel);
  EXPECT_EQ(found->real, 10);
  EXPECT_EQ(found->silence, -0.5F);
  EXPECT_EQ(found->lead, 0.25F);
}

TEST(FeatureCache, StaysWithinItsBoundAndDropsTheOldestFirst) {
  const TempFolder folder;
  const auto cache = *FeatureCache::open({folder.path(), Bytes{100'000}});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(cache->store(key_of(i), features_of(static_cast<std::uint16_t>(i))));
    EXPECT_LE(bytes_in(folder.path()), 100'000);
  }
  EXPECT_FALSE(cache->find(key_of(0)));
  EXPECT_TRUE(cache->find(key_of(199)));
  EXPECT_GE(cache->entries(), 35U) << "an eighth goes at a time";
}

TEST(FeatureCache, DamageCountsAsNotThere) {
  const TempFolder folder;
  { ASSERT_TRUE((*FeatureCache::open({folder.path()}))->store(key_of(1), features_of(7))); }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::string bytes = *read_file(entry.path());
    bytes[500] = static_cast<char>(bytes[500] ^ 1);
    ASSERT_TRUE(write_file_atomically(entry.path(), bytes + "torn"));
  }
  const auto cache = *FeatureCache::open({folder.path()});
  EXPECT_EQ(cache->entries(), 1U);
  EXPECT_FALSE(cache->find(key_of(1)));
}

TEST(FeatureCache, AFeedYieldsTheSameFromItAsWithoutWhatItHolds) {
  const Corpus corpus(mixed_lengths(20));
  FeedOptions options = options_for(corpus.manifest());
  const auto exact = all_batches(options);
  options.cache.folder = corpus.folder() / "cache";
  const auto cold = all_batches(options);
  EXPECT_EQ(digests_of(all_batches(options)), digests_of(cold));
  for (std::size_t i = 0; i < 80; ++i) EXPECT_NEAR(cold[0].mel().data()[i], exact[0].mel().data()[i], 2e-3);
}

/// How many lines of the log begin with `start` while `work` runs.
int times_reported(const std::string& start, const std::function<void()>& work) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  const LogSink before = set_log_sink([=](Level, std::string_view line) { *count += line.starts_with(start) ? 1 : 0; });
  work();
  set_log_sink(before);
  return *count;
}

TEST(FeatureCache, UnwritableCacheLosesNoSampleAndWarnsOnce) {
  const Corpus corpus(mixed_lengths(20));
  FeedOptions options = options_for(corpus.manifest());
  options.cache.folder = corpus.folder() / "cache";
  const auto kept = all_batches(options);
  options.cache.folder = "/proc/self/fdinfo";  // a folder in which not even the superuser can create a file
  const int output = times_reported("the cache of features takes nothing more: ", [&] {
    Feed feed = opened(options);
    EXPECT_EQ(digests_of(drained(feed)), digests_of(kept));
    EXPECT_EQ(feed.report().bad_samples, 0);
  });
  EXPECT_EQ(output, 1);
}

TEST(FeatureCache, AudioAugmentationDisablesTheCacheWithAWarning) {
  const Corpus corpus({1.0});
  FeedOptions options = options_for(corpus.manifest());
  options.cache.folder = corpus.folder() / "cache";
  const auto run = [&] { all_batches(options); };
  EXPECT_EQ(times_reported("the cache of features is not used: ", run), 0);
  options.augmentation.gain_share = 0.5;
  EXPECT_EQ(times_reported("the cache of features is not used: ", run), 1);
}

TEST(FeatureCache, MasksApplyAfterTheCacheSoEntriesStayValid) {
  const Corpus corpus(mixed_lengths(20));
  FeedOptions options = options_for(corpus.manifest());
  options.cache.folder = corpus.folder() / "cache";
  const auto plain = all_batches(options);
  options.augmentation.spectrum.band_count = 1;
  EXPECT_NE(digests_of(all_batches(options)), digests_of(plain));
  EXPECT_EQ((*FeatureCache::open(options.cache))->entries(), 20U);
  options.n_mels = 40;
  all_batches(options);
  EXPECT_EQ((*FeatureCache::open(options.cache))->entries(), 40U) << "other features";
}

TEST(FeatureCache, AChangedFileIsAnotherEntry) {
  const Corpus corpus({1.0, 1.0});
  FeedOptions options = options_for(corpus.manifest());
  options.shuffle = false;
  options.cache.folder = corpus.folder() / "cache";
  const auto before = all_batches(options);
  write_wav(corpus.file(0), audio_of(77, 16000));
  const auto after = all_batches(options);
  EXPECT_NE(digest_of(after[0]), digest_of(before[0]));
  EXPECT_EQ((*FeatureCache::open(options.cache))->entries(), 3U);
}

}  // namespace
}  // namespace tutti
