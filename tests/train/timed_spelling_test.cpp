#include "train/timed_spelling.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "small_whisper.h"
#include "train/labels.h"

namespace tutti {
namespace {

constexpr std::int64_t kBlank = 256;
constexpr std::int64_t kPositions = 30;

/// What stands at the positions of one sample: '.' for a blank, '-' where nothing is asked.
std::string spelled(const BatchSample& sample) {
  const auto task = small_task();
  const BatchSample* const one[] = {&sample};
  const auto all = tokens_at_positions(one, task->labels().tokenizer(), kPositions, kBlank);
  std::string text;
  for (std::int64_t i = 0; i < kPositions; ++i) {
    const auto token = all[0][i].item<std::int64_t>();
    text += token == kBlank ? '.' : token == kNotAsked ? '-' : static_cast<char>(token);
  }
  return text;
}

TEST(TimedSpelling, PutsEveryTokenWhereItsShareOfTheWordEnds) {
  const BatchSample sample{.id = "a", .text = "ab", .frames = 40, .words = {{0.1, 0.3, "ab"}}};
  EXPECT_EQ(spelled(sample), ".........aaa..bbb...----------");
}

TEST(TimedSpelling, PutsASpaceBeforeItsWord) {
  const BatchSample sample{.id = "a", .text = "K E", .frames = 60, .words = {{0.1, 0.2, "K"}, {0.4, 0.42, " E"}}};
  EXPECT_EQ(spelled(sample), ".........KKK.....   EEE.......");
}

TEST(TimedSpelling, WritesNoTokenOverTheOneBefore) {
  const BatchSample sample{.id = "a", .text = "abc", .frames = 60, .words = {{0.1, 0.16, "abc"}}};
  EXPECT_EQ(spelled(sample), ".....aaabc....................");
}

TEST(TimedSpelling, AsksForNothingWhereTheTimesAreUnknownAndForSilenceInSilence) {
  EXPECT_EQ(spelled({.id = "a", .text = "ab", .frames = 60}), std::string(kPositions, '-'));
  EXPECT_EQ(spelled({.id = "a", .frames = 50}), std::string(25, '.') + "-----");
}

TEST(TimedSpelling, IsPartOfTheLossWhereTheRecipeWantsIt) {
  auto recipe = small_recipe();
  const auto plain = small_task(recipe);
  recipe.frame_weight = 0.5;
  const auto task = small_task(recipe);
  auto batch = small_batch(0, 2);
  batch.samples[0].words = {{0.1, 0.3, " " + batch.samples[0].text}};
  const auto with = task->prepare(batch), without = plain->prepare(batch);
  ASSERT_EQ(with.inputs.size(), 6U);
  const double more =
      task->loss_sum(with.inputs, false).item<double>() - plain->loss_sum(without.inputs, false).item<double>();
  // Nine positions of three tokens that are as unlikely as any other of 256, beside a blank that is likely at first.
  EXPECT_GT(more, 0.5 * 9 * 4);
  EXPECT_LT(more, 0.5 * (9 * 12 + 11 * 0.3 * 12));
}

}  // namespace
}  // namespace tutti
