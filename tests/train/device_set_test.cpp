// A packed set on a device, and batches gathered there, held against those of the feed's threads.

#include "train/device_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "feed/corpus.h"
#include "small_whisper.h"
#include "support/environment.h"
#include "train/whisper/feed.h"

namespace tutti {
namespace {

FeedOptions options_in(const Corpus& corpus, Residence where) {
  auto options = options_for(corpus.manifest());
  options.window = Seconds(4);
  options.epochs = 2;
  options.cache.folder = corpus.folder() / "cache";
  options.resident.where = where;
  return options;
}

at::Tensor mel_of(const Batch& batch) {
  return at::from_blob(const_cast<float*>(batch.row(0)), {batch.size(), batch.n_mels, batch.frames}, at::kFloat);
}

TEST(DeviceSet, GathersBitByBitWhatTheFeedsThreadsDo) {
  const Corpus corpus(mixed_lengths(30));
  for (const Padding padding : {Padding::bucket, Padding::window})
    for (const int masks : {0, 2}) {
      auto options = options_in(corpus, Residence::stream);
      options.padding = padding;
      options.augmentation.spectrum = {.band_count = masks, .stretch_count = masks};
      const auto expected = all_batches(options);
      options.resident.where = Residence::device;
      Feed feed = opened(options);
      auto set = DeviceSet::load(feed.packed(), at::kCPU);
      ASSERT_TRUE(set);
      const auto batches = drained(feed);
      ASSERT_EQ(batches.size(), expected.size());
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto mel = (*set)(batches[i]);
        EXPECT_TRUE(mel.is_contiguous());
        EXPECT_TRUE(at::equal(mel, mel_of(expected[i]))) << "batch " << i << ", masks " << masks;
      }
    }
}

TEST(DeviceSet, ResidentSetGivesTheInputsOfTheStreamedFeed) {
  const Corpus corpus({0.5, 1.0, 1.5, 0.7, 1.9});
  auto options = options_in(corpus, Residence::stream);
  options.window = Seconds(2);
  auto recipe = small_recipe();
  recipe.packing.window_share = 0.5;
  const auto streaming = small_task(recipe), keeping = small_task(recipe);
  const auto expected = all_batches(options);
  options.resident.where = Residence::device;
  Feed feed = opened(options);
  ASSERT_TRUE(keeping->keep_on_device(feed.packed()));
  EXPECT_EQ(keeping->data_stage().device, keeping->device());
  const auto batches = drained(feed);
  ASSERT_EQ(batches.size(), expected.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto found = keeping->prepare(batches[i]), wanted = streaming->prepare(expected[i]);
    EXPECT_EQ(found.ids.all(), wanted.ids.all());
    EXPECT_EQ(found.targets, wanted.targets);
    ASSERT_EQ(found.inputs.size(), wanted.inputs.size());
    for (std::size_t input = 0; input < found.inputs.size(); ++input)
      EXPECT_TRUE(at::equal(found.inputs[input], wanted.inputs[input])) << "batch " << i << " input " << input;
  }
}

TEST(DeviceSet, ABatchThatBringsItsFeaturesIsTakenAsItIs) {
  const Corpus corpus({0.5, 1.0});
  const auto task = small_task();
  Feed feed = opened(options_in(corpus, Residence::mapped));
  ASSERT_TRUE(task->keep_on_device(feed.packed()));
  const auto batch = small_batch(0, 2);
  EXPECT_TRUE(at::equal(task->prepare(batch).inputs[0], mel_of(batch)));
}

TEST(DeviceSet, ProcessesOfOneMachineShareItsMemory) {
  const ScopedVariable rank("RANK", "0"), local("LOCAL_WORLD_SIZE", nullptr), no_address("MASTER_ADDR", nullptr);
  WhisperRecipe recipe;
  const auto space_beside = [&](const char* ranks, const char* where) {
    const ScopedVariable world("WORLD_SIZE", ranks);
    recipe.data.data_set = where;
    return static_cast<double>(resident_of(recipe, at::kCPU).space.value);
  };
  for (const char* where : {"memory", "device"}) {
    const double alone = space_beside("1", where);
    ASSERT_GT(alone, 0);
    EXPECT_NEAR(space_beside("8", where) / alone, 0.125, 0.06) << "what is free changes a little meanwhile";
  }
  EXPECT_EQ(space_beside("8", "mapped"), 0);
}

}  // namespace
}  // namespace tutti
