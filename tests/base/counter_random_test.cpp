#include "base/random/counter_random.h"

#include <gtest/gtest.h>

#include <set>

namespace tutti {
namespace {

TEST(CounterRandom, IsPhiloxAsItsAuthorsPublishedIt) {
  // Known answers of Random123 1.14 (kat_vectors, philox4x32 10): counter 0, key 0.
  CounterRandom zero(0);
  EXPECT_EQ(zero.bits32(), 0x6627e8d5U);
  EXPECT_EQ(zero.bits32(), 0xe169c58dU);
  EXPECT_EQ(zero.bits32(), 0xbc57ac4cU);
  EXPECT_EQ(zero.bits32(), 0x9b00dbd8U);
}

TEST(CounterRandom, TheSameKeyGivesTheSameNumbersAndAnotherOthers) {
  CounterRandom one({1, 2, 3}), same({1, 2, 3}), other({1, 3, 2});
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const auto value = one.bits32();
    EXPECT_EQ(value, same.bits32());
    equal += value == other.bits32();
  }
  EXPECT_LE(equal, 1);
}

TEST(CounterRandom, UniformAndNormalHaveTheirMoments) {
  CounterRandom random(7);
  double sum = 0, normal = 0, squares = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double value = random.uniform();
    ASSERT_TRUE(value >= 0 && value < 1);
    sum += value;
    const double drawn = random.normal();
    normal += drawn;
    squares += drawn * drawn;
  }
  EXPECT_NEAR(sum / 20'000, 0.5, 0.01);
  EXPECT_NEAR(normal / 20'000, 0, 0.03);
  EXPECT_NEAR(squares / 20'000, 1, 0.04);
}

TEST(CounterRandom, BelowReachesEveryNumberAndNoOther) {
  CounterRandom random(9);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 500; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Digest, CloseTextsHaveFarDigests) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(digest("sample " + std::to_string(i)) >> 32);
  EXPECT_GE(seen.size(), 9'980U);
}

}  // namespace
}  // namespace tutti
