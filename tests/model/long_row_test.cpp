#include "model/cpu/row/long_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/instruction_sets.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

std::vector<float> wave(std::size_t size, float height) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i) row[i] = height * std::sin(static_cast<float>(i) * 1.7F);
  return row;
}

/// The kernels of one instruction set, by themselves: what this processor has may be more than another's.
class LongRows : public testing::TestWithParam<std::pair<Instructions, LongRowKernels>> {
 protected:
  void SetUp() override { TUTTI_NEEDS_INSTRUCTIONS(GetParam().first); }

  static std::vector<float> maxima(const std::vector<float>& row) {
    std::vector<float> columns(kRowColumns, 7.0F);
    GetParam().second.find_maxima(row.data(), row.size(), columns.data());
    return columns;
  }

  static double sum(const std::vector<float>& row, float largest, float scale) {
    return GetParam().second.add_exponentials(row.data(), row.size(), largest, scale);
  }
};

std::string set_of(const testing::TestParamInfo<LongRows::ParamType>& info) {
  if (info.param.first == Instructions::none) return "Plain";
  return info.param.first == Instructions::avx2 ? "Avx2" : "Avx512";
}

INSTANTIATE_TEST_SUITE_P(Sets, LongRows,
                         testing::Values(std::pair{Instructions::none, long_row_kernels_plain()},
                                         std::pair{Instructions::avx2, long_row_kernels_avx2()},
                                         std::pair{Instructions::avx512, long_row_kernels_avx512()}),
                         set_of);

constexpr std::size_t kSizes[] = {0, 1, 16, 255, 256, 257, 511, 512, 5001, 51866};

TEST_P(LongRows, HaveTheLargestOfEveryColumnAndNothingWhereItIsEmpty) {
  for (const std::size_t size : kSizes) {
    const auto row = wave(size, 9);
    std::vector<float> expected(kRowColumns, kNever);
    for (std::size_t i = 0; i < size; ++i) expected[i % kRowColumns] = std::max(expected[i % kRowColumns], row[i]);
    EXPECT_EQ(maxima(row), expected) << size;
  }
}

TEST_P(LongRows, SkipNanAnywhereInAColumn) {
  std::vector<float> row(3 * kRowColumns + 20, -3.0F);
  for (const std::size_t index : {std::size_t{5}, kRowColumns + 6, 2 * kRowColumns + 7, 3 * kRowColumns + 8})
    row[index] = kNoNumber;
  row[9] = row[kRowColumns + 9] = row[2 * kRowColumns + 9] = row[3 * kRowColumns + 9] = kNoNumber;
  std::vector<float> expected(kRowColumns, -3.0F);
  expected[9] = kNever;
  EXPECT_EQ(maxima(row), expected);
}

TEST_P(LongRows, AddUpExponentialsAsFloat64DoesAtEveryLengthAndScale) {
  for (const std::size_t size : kSizes) {
    const auto row = wave(size, 30);
    const float largest = size == 0 ? 0 : *std::ranges::max_element(row);
    for (const float scale : {1.0F, 5.0F}) {
      double expected = 0;
      for (const float value : row)
        expected += std::exp((static_cast<double>(value) - static_cast<double>(largest)) * static_cast<double>(scale));
      EXPECT_NEAR(sum(row, largest, scale), expected, 2e-6 * expected) << size << " at " << scale;
    }
  }
}

TEST_P(LongRows, CountForbiddenOnesAsNothingAndHideNoneThatIsNoNumber) {
  std::vector<float> row(51866, kNever);
  row[51865] = 2.0F;
  row[300] = 2.0F;
  EXPECT_EQ(sum(row, 2, 1), 2);
  for (const std::size_t index : {0U, 300U, 51865U}) {
    auto damaged = row;
    damaged[index] = kNoNumber;
    EXPECT_TRUE(std::isnan(sum(damaged, 2, 1))) << index;
  }
}

TEST(PositionsFrom, AreAllThatAreLargeEnoughInFewColumnsAsInMany) {
  for (const std::size_t size : {100U, 256U, 5000U}) {
    for (const std::size_t every : {1U, 2U, 3U, 64U, 97U}) {
      std::vector<float> row(size, 1.0F);
      std::vector<std::int32_t> expected;
      for (std::size_t i = 0; i < size; i += every) {
        row[i] = 2.0F;
        expected.push_back(static_cast<std::int32_t>(i));
      }
      auto found = positions_from(row, column_maxima(row), 2.0F);
      std::ranges::sort(found);
      EXPECT_EQ(found, expected) << "every " << every << " of " << size;
    }
  }
}

TEST(PositionsFrom, ForbiddenLogitsAloneGiveNoPosition) {
  const std::vector<float> row(1000, kNever);
  EXPECT_TRUE(positions_from(row, column_maxima(row), kNever).empty());
}

}  // namespace
}  // namespace tutti
