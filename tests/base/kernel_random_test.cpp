#include "base/random/kernel_random.h"

#include <gtest/gtest.h>

#include <set>

namespace tutti {
namespace {

TEST(KernelRandom, TokensDifferAndAreDigits) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
  const std::string longer = random_token(24);
  EXPECT_EQ(longer.size(), 48U);
  EXPECT_EQ(longer.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(KernelRandom, FractionsDifferAndAreBelowOne) {
  std::set<double> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(random_fraction());
  EXPECT_EQ(drawn.size(), 100U);
  EXPECT_GE(*drawn.begin(), 0);
  EXPECT_LT(*drawn.rbegin(), 1);
  EXPECT_GT(*drawn.rbegin() - *drawn.begin(), 0.5);
}

}  // namespace
}  // namespace tutti
