#include "model/few_rows.h"

#include <gtest/gtest.h>

#include "model/few_rows_job.h"
#include "model/golden.h"

namespace tutti {
namespace {

class FewRowsOfType : public testing::TestWithParam<at::ScalarType> {};

INSTANTIATE_TEST_SUITE_P(Types, FewRowsOfType, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& type) { return std::string(c10::toString(type.param)); });

TEST_P(FewRowsOfType, TheProductIsThatOfFloat64) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  for (const auto rows : {1, 2, 3, 7, 8, 13, 16}) {
    for (const auto& [in, out] : {std::pair{16, 1}, {48, 33}, {384, 700}}) {
      const auto x = at::randn({rows, in}).to(GetParam());
      const auto weight = at::randn({out, in}).to(GetParam());
      ASSERT_TRUE(is_few_rows(x, weight));
      const auto exact = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
      EXPECT_LT(distance(few_rows(x, weight), exact), 1e-4) << rows << " x " << in << " x " << out;
    }
  }
}

TEST_P(FewRowsOfType, ARowDoesNotFeelItsNeighbours) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  const auto x = at::randn({16, 64}).to(GetParam());
  const auto weight = at::randn({50, 64}).to(GetParam());
  const auto together = few_rows(x, weight);
  for (std::int64_t row = 0; row < 16; ++row) {
    EXPECT_TRUE(at::equal(few_rows(x.narrow(0, row, 1), weight)[0], together[row])) << row;
  }
}

TEST(FewRows, BothInstructionSetsComputeTheSame) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this processor has no AVX-512";
  const auto x = at::randn({5, 96});
  const auto weight = at::randn({40, 96});
  auto narrow = at::empty({5, 40});
  const FewRows<float> job{
      x.const_data_ptr<float>(), weight.const_data_ptr<float>(), narrow.mutable_data_ptr<float>(), 5, 96, 40};
  multiply_avx2(job, 0, 40);
  EXPECT_LT(distance(narrow, few_rows(x, weight)), 1e-5);
}

TEST(FewRows, WhatTheKernelCannotDoIsLeftToTorch) {
  const auto weight = at::randn({8, 32});
  EXPECT_FALSE(is_few_rows(at::randn({17, 32}), weight));
  EXPECT_FALSE(is_few_rows(at::randn({2, 24}), at::randn({8, 24})));
  EXPECT_FALSE(is_few_rows(at::randn({32, 2}).t(), weight));
  EXPECT_FALSE(is_few_rows(at::randn({2, 32}).to(at::kHalf), weight.to(at::kHalf)));
}

}  // namespace
}  // namespace tutti
