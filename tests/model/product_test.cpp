#include "model/cpu/matrix/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "model/cpu/matrix/block.h"
#include "model/golden.h"
#include "model/instruction_sets.h"

namespace tutti {
namespace {

/// Tolerance is of a product of normal numbers, 96 long. Bytes of a row whose largest number is 4.4 are rounded by 4.4
/// / 127 / sqrt(12) in the mean, 96 of them by 0.1: of thirty thousand products the worst may be five times as far off.
struct Case {
  const char* name;
  WeightPrecision precision = WeightPrecision::float32;
  std::int64_t parts = 1;
  double tolerance = 0;
};

class Products : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2); }
};

INSTANTIATE_TEST_SUITE_P(OfPrecision, Products,
                         testing::Values(Case{"Float32", WeightPrecision::float32, 1, 1e-4},
                                         Case{"Bfloat16", WeightPrecision::bfloat16, 1, 0.3},
                                         Case{"Int8", WeightPrecision::int8, 1, 0.6},
                                         Case{"Int8InTwoParts", WeightPrecision::int8, 2, 0.4},
                                         Case{"Int16", WeightPrecision::int16, 1, 0.02}),
                         [](const auto& test) { return std::string(test.param.name); });

at::Tensor product_of(const at::Tensor& x, const PackedMatrix& weight) {
  auto y = at::empty({x.size(0), weight.out});
  product({x.const_data_ptr<float>(), x.size(1), x.size(0)}, {}, weight, {}, {y.mutable_data_ptr<float>(), weight.out});
  return y;
}

/// All panels by the kernels for some sets of instructions.
at::Tensor product_by(const InstructionSets& instructions, const at::Tensor& x, const PackedMatrix& weight) {
  const auto table = kernels(weight.precision, instructions);
  const KernelScope scope(table);
  PreparedRows rows(weight, x.size(0));
  rows.prepare(table, {x.const_data_ptr<float>(), x.size(1), x.size(0)}, {});
  auto y = at::empty({x.size(0), weight.out});
  multiply_panels(table, {rows, x.size(0)}, weight, {0, weight.panel_count()}, {},
                  {y.mutable_data_ptr<float>(), weight.out});
  return y;
}

TEST_P(Products, AreThoseOfFloat64WithinTheirRounding) {
  const auto bias = at::randn({150});
  for (const auto rows : {1, 2, 7, 16, 33, 200}) {
    for (const auto& [in, out] : {std::pair{24, 10}, {96, 150}}) {
      const auto x = at::randn({rows, in});
      const auto weight = at::randn({out, in});
      const auto some = bias.narrow(0, 0, out);
      const auto exact = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t()) + some.to(at::kDouble);
      const auto packed = pack(weight, some, GetParam().precision, GetParam().parts);
      EXPECT_LT(distance(product_of(x, packed), exact), GetParam().tolerance) << rows << " x " << in << " x " << out;
    }
  }
}

TEST_P(Products, RowIsIndependentOfOtherRowsAndTheirNumber) {
  const auto packed = pack(at::randn({70, 96}), {}, GetParam().precision, GetParam().parts);
  const auto x = at::randn({300, 96});
  const auto together = product_of(x, packed);
  const auto backwards = product_of(x.flip(0).contiguous(), packed).flip(0);
  EXPECT_TRUE(at::equal(together, backwards));
  for (const std::int64_t row : {0, 17, 150, 299}) {
    EXPECT_TRUE(at::equal(product_of(x.narrow(0, row, 1), packed)[0], together[row])) << row;
  }
}

TEST_P(Products, AreTheSameByEverySetOfInstructions) {
  const auto packed = pack(at::randn({70, 96}), {}, GetParam().precision, GetParam().parts);
  const auto x = at::randn({37, 96});
  const auto expected = product_by({Instructions::avx2}, x, packed);
  // Integers are exact, but rows in two parts are rounded in two ways; sums of bfloat16 products differ in their order.
  const double tolerance = GetParam().parts == 2                               ? 2e-3
                           : GetParam().precision == WeightPrecision::bfloat16 ? 1e-4
                                                                               : 1e-5;
  for (const auto& one : sets_of_this_processor()) {
    EXPECT_LT(distance(product_by(one.sets, x, packed), expected), tolerance) << one.name();
  }
}

TEST_P(Products, DenormalWeightsGiveZeroAndLeaveOthersAlone) {
  auto weight = at::randn({20, 96});
  const auto packed = pack(weight, {}, GetParam().precision, GetParam().parts);
  const auto x = at::randn({5, 96});
  const auto expected = product_of(x, packed);
  weight[3].fill_(1e-44F);
  const auto y = product_of(x, pack(weight, {}, GetParam().precision, GetParam().parts));
  EXPECT_LT(y.select(1, 3).abs().max().item<float>(), 1e-30F);
  EXPECT_TRUE(at::equal(y.narrow(1, 4, 16), expected.narrow(1, 4, 16)));
}

/// What a stored 1 of an output is worth, by the rule that WeightsJob names.
float scale_of_output(const at::Tensor& weights, WeightPrecision precision) {
  if (!is_scaled(precision)) return 1;
  const auto largest = weights.abs().max().item<float>();
  if (precision == WeightPrecision::int8) return largest / 127;
  const auto root = weights.square().to(at::kDouble).mean().sqrt().to(at::kFloat).item<float>();
  return std::max(largest, root * (kMostWord / kWordRoot)) / kMostWord;
}

/// [groups * numbers in a group, 16]: the numbers of a panel, an output a column.
at::Tensor numbers_of(const std::vector<std::byte>& panel, WeightPrecision precision) {
  const auto type = precision == WeightPrecision::float32    ? at::kFloat
                    : precision == WeightPrecision::bfloat16 ? at::kBFloat16
                    : precision == WeightPrecision::int8     ? at::kChar
                                                             : at::kShort;
  const auto flat = at::from_blob(const_cast<std::byte*>(panel.data()),
                                  {std::ssize(panel) / static_cast<std::int64_t>(at::elementSize(type))}, type);
  return flat.view({std::ssize(panel) / 64, kPanel, -1}).permute({0, 2, 1}).flatten(0, 1).to(at::kFloat);
}

TEST_P(Products, WeightsAreStoredAlikeByEverySetOfInstructions) {
  const auto precision = GetParam().precision;
  constexpr std::int64_t in = 109, out = 13;
  auto weight = at::randn({out, in});
  weight[2].fill_(0.25);          // all of them the largest
  weight[3].mul_(0.001)[50] = 7;  // one is far larger than the others
  const auto groups = groups_of(precision, in);
  for (const auto& one : sets_of_this_processor()) {
    auto lost = weight.clone();
    std::vector<std::byte> panel(static_cast<std::size_t>(groups * kPanel * 4), std::byte{0x55});
    std::vector<float> scales(kPanel, 1);
    std::vector<std::int32_t> sums(kPanel);
    kernels(precision, one.sets)
        .pack_weights({.weights = lost.mutable_data_ptr<float>(),
                       .count = out,
                       .in = in,
                       .panel = panel.data(),
                       .groups = groups,
                       .scales = scales.data(),
                       .sums = sums.data()});
    const auto numbers = numbers_of(panel, precision);
    auto expected = at::zeros_like(numbers);
    for (std::int64_t row = 0; row < out; ++row) {
      const auto at = static_cast<std::size_t>(row);
      ASSERT_EQ(scales[at], scale_of_output(weight[row], precision)) << row << " by " << one.name();
      auto stored = weight[row] / scales[at];
      if (is_scaled(precision)) stored = at::round(stored);
      if (precision == WeightPrecision::bfloat16) stored = stored.to(at::kBFloat16).to(at::kFloat);
      if (precision == WeightPrecision::int8) EXPECT_EQ(sums[at], stored.sum().item<float>()) << row;
      expected.select(1, row).narrow(0, 0, in).copy_(stored);
    }
    EXPECT_TRUE(at::equal(numbers, expected)) << one.name();
  }
}

TEST(Products, RoundRowsToBfloat16AsTorchDoesByEverySetOfInstructions) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  // Halves go to even; then their neighbours, what is nothing, what has no end, and what has none once it is rounded.
  const std::vector<float> special{
      0x1.01p0F, 0x1.03p0F, -0x1.01p0F, 0x1.010002p0F,   0x1.00fffep0F,
      0,         -0.0F,     kEndless,   -kEndless,       std::numeric_limits<float>::max(),
      0x1p-126F, 0x1p-100F, -1e38F,     0x1.fffffep100F, std::numeric_limits<float>::quiet_NaN()};
  const auto last = std::ssize(special) - 1;
  const auto x = at::cat({at::tensor(special), at::randn({18})});
  const auto expected = x.to(at::kBFloat16).view(at::kShort);
  for (const auto& one : sets_of_this_processor()) {
    std::vector<std::int16_t> stored(34, 7);
    kernels(WeightPrecision::bfloat16, one.sets)
        .prepare({.x = x.const_data_ptr<float>(),
                  .stride = 33,
                  .rows = 1,
                  .in = 33,
                  .out = reinterpret_cast<std::byte*>(stored.data()),
                  .out_stride = 68,
                  .groups = 17});
    for (std::int64_t i = 0; i < 33; ++i) {
      const auto found = stored[static_cast<std::size_t>(i)];
      if (i == last)
        EXPECT_GT(found & 0x7fff, 0x7f80) << "a number was made of what is none";
      else
        EXPECT_EQ(found, expected[i].item<std::int16_t>()) << x[i].item<float>() << " by " << one.name();
    }
    EXPECT_EQ(stored.back(), 0) << "what is behind the row is not empty";
  }
}

TEST(Products, TwoPartInt8RowsAreAsExactAsTheirWeights) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  auto x = at::randn({20, 96});
  x.select(1, 3).mul_(100);  // what eight bits for the whole row cannot hold
  const auto weight = at::randint(-127, 128, {32, 96}).to(at::kFloat);
  weight.select(1, 0).fill_(127);  // exact in int8
  const auto exact = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
  const auto error = [&](std::int64_t parts) {
    return distance(product_of(x, pack(weight, {}, WeightPrecision::int8, parts)), exact);
  };
  EXPECT_LT(error(2), error(1) / 50);
}

// Sums that leave 32 bits would come back with the wrong sign.
TEST(Products, Int16SumsOfTheLongestRowsDoNotOverflow) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  constexpr std::int64_t in = 5120;
  const auto weight = at::randn({32, in});
  weight[3].fill_(0.5);  // every stored number the largest there is
  weight[4].fill_(-0.5);
  auto x = at::randn({8, in});
  x[1].fill_(3);
  x[2].fill_(-3);
  x[3].zero_();
  x[4].zero_().select(0, 17).fill_(1e6);
  x[5].copy_(weight[7]);  // as long as it gets against an ordinary output
  const auto exact = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
  const auto of_length = exact.abs().amax(1, true).clamp_min(1e-9);
  const auto y = product_of(x, pack(weight, {}, WeightPrecision::int16));
  EXPECT_LT(((y - exact) / of_length).abs().max().item<double>(), 2e-3);
  EXPECT_TRUE(at::equal(y[3], at::zeros({32})));
}

}  // namespace
}  // namespace tutti
