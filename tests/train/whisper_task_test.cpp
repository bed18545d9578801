#include <gtest/gtest.h>

#include <optional>

#include "small_whisper.h"
#include "train/whisper/task.h"

namespace tutti {
namespace {

TEST(WhisperTask, ABatchFilledUpToTheWindowIsFollowedBySilence) {
  auto recipe = small_recipe();
  recipe.packing.window_share = 1;
  const auto whole = small_task(recipe)->prepare(small_batch(0, 2, 40)).inputs[0];
  const auto part = small_task()->prepare(small_batch(0, 2, 40)).inputs[0];
  ASSERT_EQ(whole.size(2), 200);
  EXPECT_TRUE(at::equal(whole.narrow(2, 0, 40), part));
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto silence = part[row].min();
    EXPECT_TRUE(at::equal(whole[row].narrow(1, 40, 160), silence.expand({80, 160}))) << row;
  }
}

TEST(WhisperTask, AFifthOfTheBatchesIsFilledUpByDefault) {
  auto recipe = small_recipe();
  recipe.packing.window_share = WhisperRecipe{}.packing.window_share;
  const auto task = small_task(recipe);
  int filled = 0;
  for (int i = 0; i < 200; ++i) filled += task->prepare(small_batch(i, 1)).inputs[0].size(2) == 200 ? 1 : 0;
  EXPECT_GE(filled, 20);
  EXPECT_LE(filled, 70);
}

TEST(WhisperTask, CountsComputedFramesAndFilledUpOnesSeparately) {
  auto batch = small_batch(0, 3, 40);
  batch.samples[0].frames = 30;
  batch.samples[2].text = std::string(100, 'x');  // too long for any row: that sample is not computed
  EXPECT_EQ(small_task()->prepare(batch).frames, (FrameCounts{.computed = 80, .padding = 10}));
  auto recipe = small_recipe();
  recipe.packing.window_share = 1;
  const auto whole = small_task(recipe)->prepare(batch).frames;
  EXPECT_EQ(whole, (FrameCounts{.computed = 400, .padding = 330, .filled_up = 320}));
  EXPECT_DOUBLE_EQ(whole.padding_share(), 330 / 400.0);
  EXPECT_DOUBLE_EQ(whole.needed_share(), 10 / 80.0);
}

TEST(WhisperTask, FeedPaddingToTheWindowIsNotCopiedOrCountedAsFilledUp) {
  auto recipe = small_recipe();
  recipe.packing.window_share = 1;
  auto batch = small_batch(0, 2, 200);
  for (auto& sample : batch.samples) sample.frames = 40;
  const auto made = small_task(recipe)->prepare(batch);
  EXPECT_EQ(made.inputs[0].const_data_ptr<float>(), batch.row(0));
  EXPECT_EQ(made.frames, (FrameCounts{.computed = 400, .padding = 320}));
}

TEST(WhisperTask, TheFeaturesOfABatchAreSharedNotCopiedAndOutliveIt) {
  const auto task = small_task();
  std::optional<Batch> batch = small_batch(0, 2);
  const float* const address = batch->row(0);
  const auto mel = task->prepare(*batch).inputs[0];
  EXPECT_EQ(mel.const_data_ptr<float>(), address);
  const auto before = mel.clone();
  batch.reset();
  const auto another = small_batch(1, 2);
  EXPECT_NE(another.row(0), address) << "its memory is held";
  EXPECT_TRUE(at::equal(mel, before));
}

TEST(WhisperTask, PiecesOfARecordingCountAsOne) {
  auto batch = small_batch(0, 4);
  const char* ids[] = {"talk#1", "talk#2", "take#2", "plain"};
  for (std::size_t i = 0; i < 4; ++i) batch.samples[i].id = ids[i];
  batch.samples[1].begins = false;
  EXPECT_EQ(small_task()->prepare(batch).recordings, 3) << "a file of its own may be called take#2";
}

TEST(WhisperTask, ANewNetworkFollowsFromItsSeed) {
  auto recipe = small_recipe();
  EXPECT_EQ(largest_difference(small_task(recipe)->weights(), small_task(recipe)->weights()), 0);
  const auto before = small_task(recipe)->weights();
  recipe.arithmetic.seed = 8;
  EXPECT_GT(largest_difference(small_task(recipe)->weights(), before), 0.1);
}

TEST(WhisperTask, InvalidShapeIsRefused) {
  auto recipe = small_recipe();
  recipe.network.heads = 3;
  const auto task = WhisperTask::start(recipe, {});
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().what.find("heads"), std::string::npos) << task.error().what;
}

}  // namespace
}  // namespace tutti
