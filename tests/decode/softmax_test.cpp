#include "decode/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> wave(std::size_t size, float height) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i) row[i] = height * std::sin(static_cast<float>(i) * 1.7F);
  return row;
}

double slow_log_sum_exp(const std::vector<float>& row) {
  double sum = 0;
  for (const float value : row) sum += std::exp(static_cast<double>(value));
  return std::log(sum);
}

TEST(LogSumExp, AgreesWithDoublePrecisionAtEveryLengthAndHeight) {
  for (const std::size_t size : {1U, 2U, 15U, 16U, 17U, 1023U, 1025U, 51864U}) {
    for (const float height : {0.0F, 1.0F, 30.0F, 300.0F}) {
      const auto row = wave(size, height);
      EXPECT_NEAR(log_sum_exp(row), slow_log_sum_exp(row), 5e-7) << size << " values of height " << height;
    }
  }
}

TEST(LogSumExp, ForbiddenTokensGiveMinusInfinityAndOneAllowedItsValue) {
  std::vector<float> row(100, kNever);
  EXPECT_EQ(log_sum_exp(row), kNever);
  row[63] = 2.5F;
  EXPECT_FLOAT_EQ(static_cast<float>(log_sum_exp(row)), 2.5F);
}

TEST(LogSumExp, AValueThatIsNoNumberIsNotHidden) {
  auto row = wave(100, 3);
  row[41] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(log_sum_exp(row)));
  row.assign(100, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(log_sum_exp(row)));
}

TEST(TopTwo, TheFirstOfEqualsWinsAndTheOtherIsTheRunnerUp) {
  std::vector<float> row(40, -1.0F);
  row[17] = row[33] = 4.0F;
  const auto top = top_two(row);
  EXPECT_EQ(top.index, 17);
  EXPECT_EQ(top.best, 4.0F);
  EXPECT_EQ(top.second, 4.0F);
  row[33] = 3.5F;
  EXPECT_EQ(top_two(row).second, 3.5F);
}

TEST(LargestPositions, AreThoseOfAFullSortWhereverTheyLie) {
  for (const std::size_t size : {1U, 5U, 255U, 256U, 257U, 5000U}) {
    auto row = wave(size, 9);
    if (size > 300) row[299] = row[10] = row[270] = 20.0F;
    std::vector<std::int32_t> all(size);
    std::iota(all.begin(), all.end(), 0);
    std::ranges::stable_sort(all, std::ranges::greater{}, [&](auto i) { return row[static_cast<std::size_t>(i)]; });
    for (const std::size_t count : {1U, 2U, 6U, 400U}) {
      const std::vector wanted(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, size)));
      EXPECT_EQ(largest_positions(row, count), wanted) << count << " of " << size;
    }
  }
}

TEST(LargestPositions, AreNeverForbiddenOnesNorThoseThatAreNoNumber) {
  std::vector<float> row(600, kNever);
  row[520] = 1.0F;
  row[3] = std::numeric_limits<float>::quiet_NaN();
  row[7] = -5.0F;
  EXPECT_EQ(largest_positions(row, 4), (std::vector<std::int32_t>{520, 7}));
}

TEST(Softmax, OneIndexIsItsShareOfAll) {
  const std::vector<float> row{std::log(1.0F), std::log(2.0F), std::log(5.0F)};
  EXPECT_NEAR(softmax_at(row, 1), 0.25, 1e-6);
}

}  // namespace
}  // namespace tutti
