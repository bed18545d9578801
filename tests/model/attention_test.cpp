#include "model/cpu/attention/attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/golden.h"
#include "model/instruction_sets.h"

namespace tutti {
namespace {

struct Case {
  const char* name;
  WeightPrecision precision = WeightPrecision::float32;
  double tolerance = 0;       // of the result, beside the largest value
  double peak_tolerance = 0;  // where one key takes most bits from all others
};

/// Queries, keys and values of `heads` heads of `size`.
struct Sides {
  Sides(std::int64_t rows, std::int64_t length, std::int64_t heads, std::int64_t size)
      : q(at::randn({rows, heads * size}) * 2),
        keys(at::randn({heads, length, size})),
        values(at::randn({heads, length, size})) {}

  /// Softmax and both products in float64.
  at::Tensor exact(std::int64_t visible, std::int64_t step) const {
    const auto queries = q.to(at::kDouble).unflatten(1, {keys.size(0), keys.size(2)}).transpose(0, 1);
    auto scores = at::matmul(queries, keys.to(at::kDouble).transpose(1, 2)) / std::sqrt(keys.size(2));
    for (std::int64_t row = 0; row < q.size(0); ++row) {
      const auto seen = visible + row * step;
      scores.select(1, row).narrow(1, seen, keys.size(1) - seen).fill_(-INFINITY);
    }
    return at::matmul(scores.softmax(-1), values.to(at::kDouble)).transpose(0, 1).flatten(1);
  }

  at::Tensor q, keys, values;
};

class Attention : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2); }

  at::Tensor attended(const Sides& sides, std::int64_t visible, std::int64_t step = 0) const {
    auto out = at::empty(sides.q.sizes());
    attend({.q = sides.q,
            .keys = sides.keys,
            .values = sides.values,
            .visible = visible,
            .visible_step = step,
            .precision = GetParam().precision},
           out);
    return out;
  }

  void expect_exact(const Sides& sides, const char* what, double tolerance = GetParam().tolerance) const {
    const auto length = sides.keys.size(1);
    const auto most = sides.values.abs().max().item<double>();
    EXPECT_LT(distance(attended(sides, length), sides.exact(length, 0)), tolerance * most) << what;
  }
};

INSTANTIATE_TEST_SUITE_P(OfPrecision, Attention,
                         testing::Values(Case{"Float32", WeightPrecision::float32, 2e-6, 2e-6},
                                         Case{"Bfloat16", WeightPrecision::bfloat16, 2e-2, 2e-2},
                                         Case{"Int16", WeightPrecision::int16, 2e-3, 1e-2}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Attention, IsFloat64sWithinItsRounding) {
  for (const std::int64_t size : {64, 32, 24}) {
    for (const std::int64_t length : {1, 15, 70, 1500}) {
      const Sides sides(37, length, 2, size);
      expect_exact(sides, "random");
    }
  }
}

TEST_P(Attention, ARowSeesNoMoreThanItMay) {
  const Sides sides(40, 50, 3, 64);
  const auto most = sides.values.abs().max().item<double>();
  EXPECT_LT(distance(attended(sides, 11, 1), sides.exact(11, 1)), GetParam().tolerance * most);
}

// Where whole numbers are nearest to leaving 32 bits, or to losing everything.
TEST_P(Attention, HoldsWhereSumsAreLargestAndSmallest) {
  Sides flat(33, 1500, 2, 64);
  flat.q.zero_();
  flat.values.fill_(3);
  expect_exact(flat, "every position counts the same, all values the largest");
  Sides aligned(33, 1500, 2, 64);
  aligned.keys.fill_(-7);
  aligned.q.fill_(11);
  expect_exact(aligned, "queries and keys in one line");
  Sides peak(33, 1500, 2, 64);
  peak.keys.narrow(1, 700, 1) *= 30;
  peak.values.narrow(1, 700, 1).zero_();
  expect_exact(peak, "one key far longer than the others", GetParam().peak_tolerance);
  Sides steep(33, 70, 2, 64);
  steep.q *= 50;
  steep.keys *= 50;
  steep.values.fill_(1);
  expect_exact(steep, "scores of thousands, of which one takes all the weight");
  Sides small(33, 100, 2, 64);
  small.keys *= 1e-20;
  small.values.zero_();
  EXPECT_EQ(attended(small, 100).abs().max().item<float>(), 0);
}

TEST_P(Attention, ARowDependsOnNoOther) {
  const Sides many(70, 200, 2, 64);
  const auto all = attended(many, 200);
  Sides one = many;
  one.q = many.q.narrow(0, 45, 1);
  EXPECT_TRUE(at::equal(attended(one, 200), all.narrow(0, 45, 1)));
}

}  // namespace
}  // namespace tutti
