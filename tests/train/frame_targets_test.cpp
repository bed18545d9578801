#include "train/whisper/frame_targets.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "small_whisper.h"
#include "train/whisper/labels.h"

namespace tutti {
namespace {

constexpr std::int64_t kBlank = 256;
constexpr std::int64_t kPositions = 30;

/// The targets at the positions of one sample: '.' for a blank, '-' where the target is ignored.
std::string spelled(const BatchSample& sample) {
  const auto task = small_task();
  const BatchSample* const one[] = {&sample};
  const auto all = tokens_at_positions(one, task->labels().tokenizer(), kPositions, kBlank);
  std::string text;
  for (std::int64_t i = 0; i < kPositions; ++i) {
    const auto token = all[0][i].item<std::int64_t>();
    text += token == kBlank ? '.' : token == kIgnoredTarget ? '-' : static_cast<char>(token);
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

TEST(TimedSpelling, UnknownTimesGiveNoTargetAndSilenceGivesSilence) {
  EXPECT_EQ(spelled({.id = "a", .text = "ab", .frames = 60}), std::string(kPositions, '-'));
  EXPECT_EQ(spelled({.id = "a", .frames = 50}), std::string(25, '.') + "-----");
}

TEST(PositionsOfTokens, CoverTheTimeOfEachTokenWithAMargin) {
  const auto task = small_task();
  const auto& tokenizer = task->labels().tokenizer();
  const BatchSample known{.id = "a", .text = "ab c", .frames = 60, .words = {{0.2, 0.4, " ab"}, {0.5, 0.9, " c"}}};
  const BatchSample other{.id = "b", .text = "xy", .frames = 60, .words = {{0.1, 0.2, " x"}}};
  const BatchSample* const both[] = {&known, &other};
  const std::vector<LabelRow> rows{task->labels().row(known, 0).value(), task->labels().row(other, 0).value()};
  const auto gather = positions_of_tokens(both, rows, tokenizer, 30);
  // no-timestamps, " ", "a", "b", " ", "c", end
  const std::vector<std::int64_t> expected{-1, -1, 6, 11, 8, 18, 13, 23, 21, 26, 23, 30, -1, -1};
  EXPECT_TRUE(gather[0].flatten().equal(at::tensor(expected, at::kLong))) << gather[0].flatten();
  EXPECT_TRUE(gather[1].eq(-1).all().item<bool>()) << "its words spell another text";
}

TEST(AttentionLoss, IsTheAttentionShareAtTheTimeOfEachToken) {
  const auto looks = at::tensor({0.1F, 0.2F, 0.3F, 0.4F, 0.25F, 0.25F, 0.25F, 0.25F}).log().view({1, 2, 4});
  const auto gather = at::tensor(std::vector<std::int64_t>{1, 3, -1, -1}, at::kLong).view({1, 2, 2});
  EXPECT_NEAR(attention_loss_sum({looks}, gather).item<double>(), -std::log(0.5), 1e-6);
  const auto elsewhere = at::tensor({0.7F, 0.1F, 0.1F, 0.1F, 1.F, 1.F, 1.F, 1.F}).log().view({1, 2, 4});
  EXPECT_NEAR(attention_loss_sum({looks, elsewhere}, gather).item<double>(), -(std::log(0.5) + std::log(0.2)) / 2,
              1e-6);
}

TEST(AttentionLoss, IsPartOfWhatTheDecoderLearnsAndNamesTheHeads) {
  auto recipe = small_recipe();
  recipe.learning.attention_weight = 0.5;
  const auto task = small_task(recipe), plain = small_task();
  auto batch = small_batch(0, 2);
  for (auto& sample : batch.samples) sample.words = {{0.1, 0.3, " " + sample.text}};
  const auto with = task->prepare(batch), without = plain->prepare(batch);
  ASSERT_EQ(with.inputs.size(), 4U);
  const double more =
      task->loss_sum(with.inputs, false).item<double>() - plain->loss_sum(without.inputs, false).item<double>();
  // Untaught, a head looks everywhere alike: each of six tokens spends about its share of the 20 positions.
  EXPECT_GT(more, 0.5 * 6 * 0.5);
  EXPECT_LT(more, 0.5 * 6 * 3);
  const auto config = task->files("float32").at("generation_config.json");
  EXPECT_EQ(nlohmann::json::parse(config)["alignment_heads"], nlohmann::json::parse("[[0, 0]]"));
}

TEST(TimedSpelling, IsPartOfTheLossWhereTheRecipeWantsIt) {
  auto recipe = small_recipe();
  const auto plain = small_task(recipe);
  recipe.learning.frame_weight = 0.5;
  const auto task = small_task(recipe);
  auto batch = small_batch(0, 2);
  batch.samples[0].words = {{0.1, 0.3, " " + batch.samples[0].text}};
  const auto with = task->prepare(batch), without = plain->prepare(batch);
  ASSERT_EQ(with.inputs.size(), 4U);
  const double more =
      task->loss_sum(with.inputs, false).item<double>() - plain->loss_sum(without.inputs, false).item<double>();
  // Nine positions of three tokens that are as unlikely as any other of 256, beside a blank that is likely at first.
  EXPECT_GT(more, 0.5 * 9 * 4);
  EXPECT_LT(more, 0.5 * (9 * 12 + 11 * 0.3 * 12));
}

}  // namespace
}  // namespace tutti
