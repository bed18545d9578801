#include "decode/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TEST(Choose, TemperatureZeroTakesLikeliestAndMarksNearTies) {
  std::vector<float> row{0.0F, 2.0F, 1.0F};
  const auto clear = choose(row, 0, {});
  EXPECT_EQ(clear.token, 1);
  EXPECT_FALSE(clear.narrow);
  EXPECT_NEAR(clear.logprob, 2 - std::log(1 + std::exp(2.0) + std::exp(1.0)), 1e-6);
  row[2] = 2.0F - 5e-5F;
  EXPECT_TRUE(choose(row, 0, {}).narrow);
}

TEST(Choose, DrawFrequencyFollowsTemperedProbability) {
  // 2,500 forbidden tokens on each side, so that the draw crosses blocks.
  std::vector<float> row(5003, kNever);
  row[2500] = std::log(0.5F);
  row[2501] = std::log(0.25F);
  row[5002] = std::log(0.25F);
  constexpr int kDraws = 20000;
  int first = 0;
  int last = 0;
  for (std::uint64_t step = 0; step < kDraws; ++step) {
    const auto choice = choose(row, 0.5F, {.seed = 7, .step = step});
    ASSERT_NE(row[static_cast<std::size_t>(choice.token)], kNever);
    // The score is the un-tempered probability, whatever the temperature.
    EXPECT_NEAR(choice.logprob, row[static_cast<std::size_t>(choice.token)], 1e-6);
    first += choice.token == 2500;
    last += choice.token == 5002;
  }
  // At temperature 0.5 the weights are squared: 4 to 1 to 1. Three standard deviations of a binomial.
  EXPECT_NEAR(first, kDraws * 4 / 6, 3 * std::sqrt(kDraws * 4.0 / 6 * 2 / 6));
  EXPECT_NEAR(last, kDraws / 6, 3 * std::sqrt(kDraws * 1.0 / 6 * 5 / 6));
}

/// A key whose random number is as close to one as a few million tries find.
SampleKey key_close_to_one() {
  SampleKey best;
  for (SampleKey key; key.step < 4'000'000; ++key.step)
    if (uniform(key) > uniform(best)) best = key;
  return best;
}

TEST(Choose, RoundingRestBehindLastBlockDrawsLastPossibleToken) {
  const auto key = key_close_to_one();
  constexpr std::size_t kPossible = 50 * 1024;
  std::vector<float> row(kPossible + 1024, kNever);
  for (int value = 1; value <= 40; ++value) {
    for (std::size_t i = 1; i < kPossible; ++i) row[i] = i % 1024 == 0 ? 0.0F : -0.03F * static_cast<float>(value);
    const auto choice = choose(row, 1, key);
    EXPECT_GT(choice.token, 1000) << value;
    EXPECT_TRUE(std::isfinite(choice.logprob)) << value;
  }
}

TEST(Choose, TheSameKeyDrawsTheSameTokenAndEveryPartOfTheKeyMatters) {
  const SampleKey key{.seed = 1, .sample = 2, .step = 3};
  EXPECT_EQ(uniform(key), uniform({.seed = 1, .sample = 2, .step = 3}));
  EXPECT_NE(uniform(key), uniform({.seed = 2, .sample = 2, .step = 3}));
  EXPECT_NE(uniform(key), uniform({.seed = 1, .sample = 3, .step = 3}));
  EXPECT_NE(uniform(key), uniform({.seed = 1, .sample = 2, .step = 4}));
  EXPECT_NE(uniform({.seed = 1, .sample = 2}), uniform({.seed = 2, .sample = 1}));
}

TEST(Choose, WithNoTokenLeftTheScoreIsNotANumber) {
  EXPECT_TRUE(std::isnan(choose(std::vector<float>(20, kNever), 0, {}).logprob));
  EXPECT_TRUE(std::isnan(choose(std::vector<float>(20, kNever), 0.8F, {}).logprob));
  EXPECT_TRUE(std::isnan(choose(std::vector<float>(20, std::nanf("")), 0.8F, {}).logprob));
}

}  // namespace
}  // namespace tutti
