#include "diarize/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tutti {
namespace {

double sum_of(const ScoreTable& scores, const std::vector<std::optional<std::size_t>>& pairs) {
  double sum = 0;
  for (std::size_t row = 0; row < pairs.size(); ++row)
    if (pairs[row]) sum += scores.at(row, *pairs[row]);
  return sum;
}

/// By trying every order of the columns.
double greatest_sum(const ScoreTable& scores) {
  std::vector<std::size_t> columns(std::max(scores.rows(), scores.columns()));
  std::iota(columns.begin(), columns.end(), 0);
  double greatest = -1e300;
  do {
    double sum = 0;
    for (std::size_t row = 0; row < scores.rows(); ++row)
      if (columns[row] < scores.columns()) sum += scores.at(row, columns[row]);
    greatest = std::max(greatest, sum);
  } while (std::ranges::next_permutation(columns).found);
  return greatest;
}

TEST(Assignment, EqualsTheBestOfAllOrders) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    ScoreTable scores(1 + random() % 6, 1 + random() % 6);
    for (std::size_t row = 0; row < scores.rows(); ++row)
      for (std::size_t column = 0; column < scores.columns(); ++column)
        scores.at(row, column) = static_cast<double>(random() % 1000) / 7;
    const auto pairs = best_pairs(scores);
    EXPECT_NEAR(sum_of(scores, pairs), greatest_sum(scores), 1e-9);
    std::vector<std::size_t> used;
    for (const auto& column : pairs)
      if (column) used.push_back(*column);
    std::ranges::sort(used);
    EXPECT_TRUE(std::ranges::adjacent_find(used) == used.end());
    EXPECT_EQ(used.size(), std::min(scores.rows(), scores.columns()));
  }
}

TEST(Assignment, OfNothingIsNothing) {
  EXPECT_TRUE(best_pairs(ScoreTable(0, 3)).empty());
  EXPECT_TRUE(best_pairs(ScoreTable(0, 0)).empty());
}

}  // namespace
}  // namespace tutti
