#include "model/cpu/likeliest.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

class StoredAs : public testing::TestWithParam<at::ScalarType> {};

INSTANTIATE_TEST_SUITE_P(Tables, StoredAs, testing::Values(at::kFloat, at::kHalf, at::kBFloat16));

TEST_P(StoredAs, TheLikeliestAreExactAndTheOthersAsTheyWere) {
  at::manual_seed(7);
  const auto table = at::randn({1003, 37}).to(GetParam());
  const auto x = at::randn({3, 37});
  const auto exact = at::matmul(x, table.to(at::kFloat).t());
  const auto rough = exact + at::rand_like(exact) - 0.5;
  auto found = rough.clone();
  compute_likeliest(found, x, table);
  const auto likely = rough.ge(rough.amax(1, true) - kDoubtfulLogits);
  EXPECT_GT(likely.sum().item<int>(), 3);
  EXPECT_LT(likely.sum().item<int>(), likely.numel() / 2);
  EXPECT_TRUE(at::allclose(found.masked_select(likely), exact.masked_select(likely), 1e-5, 1e-5));
  EXPECT_TRUE(at::equal(found.masked_select(likely.logical_not()), rough.masked_select(likely.logical_not())));
  EXPECT_TRUE(at::equal(found.argmax(1), exact.argmax(1)));
}

TEST(Likeliest, FlatRowComputesOnlyTheTopCandidates) {
  at::manual_seed(7);
  const auto table = at::randn({3000, 16}) * 0.01;
  const auto x = at::randn({1, 16});
  const auto rough = at::arange(3000, at::kFloat).view({1, 3000}) * 1e-4;
  auto found = rough.clone();
  compute_likeliest(found, x, table);
  const auto count = static_cast<std::int64_t>(kMostDoubtful);
  EXPECT_TRUE(
      at::allclose(found.narrow(1, 3000 - count, count), at::matmul(x, table.narrow(0, 3000 - count, count).t())));
  EXPECT_TRUE(at::equal(found.narrow(1, 0, 3000 - count), rough.narrow(1, 0, 3000 - count)));
}

}  // namespace
}  // namespace tutti
