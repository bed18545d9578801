#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "feed/corpus.h"
#include "small_whisper.h"
#include "train/whisper/feed.h"

namespace tutti {
namespace {

/// What a recipe with so many threads for reading makes of a set.
FeedOptions reading(const Corpus& corpus, std::int32_t read_threads) {
  WhisperRecipe recipe = small_recipe();
  recipe.data.source = corpus.manifest();
  recipe.batches.size = 4;
  recipe.hardware.threads = 2;
  recipe.hardware.read_threads = read_threads;
  return training_feed(recipe, small_task(recipe)->dims(), corpus.folder().path(), "", {}, "");
}

int threads_in(const Feed& feed, const std::string& stage) {
  const auto stages = feed.report().stages.stages;
  const auto found = std::ranges::find(stages, stage, &StageReport::name);
  return found == stages.end() ? 0 : found->threads.all();
}

TEST(WhisperFeed, ReadThreadsFollowTheRecipeAndBatchesStayTheSame) {
  const Corpus corpus(std::vector<double>(40, 0.5));
  const auto expected = digests_of(all_batches(reading(corpus, 1)));
  Feed feed = opened(reading(corpus, 7));
  auto first = feed.next();
  ASSERT_TRUE(first && *first);
  // Most of three epochs is still to come, so none of them can be through; they may not all have begun.
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto have_begun = [&] { return threads_in(feed, "read") == 7 && threads_in(feed, "decode") == 2; };
  while (!have_begun() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(threads_in(feed, "read"), 7);
  EXPECT_EQ(threads_in(feed, "decode"), 2) << "who computes is not more than before";
  auto found = digests_of(drained(feed));
  found.insert(found.begin(), digest_of(**first));
  EXPECT_EQ(found, expected);
}

TEST(WhisperFeed, APackedSetIsReadByAsManyAtOnce) {
  const Corpus corpus({0.5});
  EXPECT_EQ(reading(corpus, 1).threads.packing(), 2);
  EXPECT_EQ(reading(corpus, 7).threads.packing(), 7);
}

}  // namespace
}  // namespace tutti
