#include "train/whisper/network/ctc_head.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "small_whisper.h"
#include "train/whisper/labels.h"

namespace tutti {
namespace {

at::Tensor longs(std::vector<std::int64_t> values, std::int64_t columns) {
  return at::tensor(values, at::TensorOptions(at::kLong)).view({-1, columns});
}

/// A head with the same output at every position: token 0 with p, token 1 with q, blank with the rest.
CtcHead saying(double p, double q) {
  CtcHead head(4, 2, 1, at::kCPU);
  const c10::AutoGradMode no_gradients(false);
  head.parameters()[0].value.zero_();
  head.parameters()[1].value.copy_(at::tensor({std::log(p), std::log(q), std::log(1 - p - q)}, at::kFloat));
  return head;
}

double loss(const CtcHead& head, std::int64_t positions, const at::Tensor& spelled, const at::Tensor& lengths) {
  const auto states = at::zeros({spelled.size(0), positions, 4});
  return head.loss_sum(states, spelled, lengths).item<double>();
}

TEST(CtcHead, SumsOverEveryWayToPutTheTextAlongThePositions) {
  const auto head = saying(0.5, 0.2);
  EXPECT_NEAR(loss(head, 1, longs({0}, 1), longs({1, 1}, 2)), -std::log(0.5), 1e-5);
  // "a" along two positions: aa, a-, -a.
  EXPECT_NEAR(loss(head, 2, longs({0}, 1), longs({2, 1}, 2)), -std::log(0.25 + 2 * 0.5 * 0.3), 1e-5);
  EXPECT_NEAR(loss(head, 2, longs({0, 1}, 2), longs({2, 2}, 2)), -std::log(0.5 * 0.2), 1e-5);
}

TEST(CtcHead, IgnoresThePaddingOfARow) {
  const auto head = saying(0.5, 0.2);
  EXPECT_NEAR(loss(head, 9, longs({0, 7}, 2), longs({1, 1}, 2)), -std::log(0.5), 1e-5);
  EXPECT_EQ(loss(head, 2, longs({0, 1, 0}, 3), longs({2, 3}, 2)), 0) << "three tokens do not fit two positions";
}

TEST(CtcHead, SpellsTheTextWithoutSpecialTokens) {
  constexpr std::int32_t kEot = 10;
  const std::vector<LabelRow> rows{{{kEot + 1, 3, 4}, {3, 4, kEot}}, {{kEot + 1}, {kEot}}};
  const auto made = spelled_tensors(rows, {5, 8}, kEot);
  EXPECT_TRUE(made.tokens.equal(longs({3, 4, 0, 0}, 2)));
  EXPECT_TRUE(made.lengths.equal(longs({3, 2, 4, 0}, 2)));
}

TEST(CtcHead, TrainsTheEncoderAndIsNoPartOfTheNetwork) {
  auto recipe = small_recipe();
  const auto plain = small_task(recipe);
  recipe.learning.ctc_weight = 0.5;
  const auto task = small_task(recipe);
  EXPECT_EQ(task->trained().size(), plain->trained().size() + 2);
  EXPECT_EQ(task->weights().size(), plain->weights().size());
  const auto batch = small_batch(0, 4);
  const auto with = task->prepare(batch), without = plain->prepare(batch);
  ASSERT_EQ(with.inputs.size(), 5U);
  const double more =
      task->loss_sum(with.inputs, false).item<double>() - plain->loss_sum(without.inputs, false).item<double>();
  // Untaught, blanks are likely and every of 256 others is as unlikely, wherever the three are put.
  EXPECT_GT(more, 0.5 * 4 * 3 * 4);
  EXPECT_LT(more, 0.5 * 4 * 20 * std::log(257));
}

}  // namespace
}  // namespace tutti
