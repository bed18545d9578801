#include "metrics/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace tutti {
namespace {

TEST(Histogram, PercentilesAreWithinFivePercentOverManyOrdersOfMagnitude) {
  for (const double unit : {1e-8, 1e-3, 1.0, 1e6}) {
    Histogram histogram;
    for (int i = 1; i <= 10'000; ++i) histogram.record(unit * i);
    const auto shot = histogram.snapshot();
    EXPECT_EQ(shot.count, 10'000u);
    EXPECT_NEAR(shot.mean(), unit * 5000.5, unit * 1e-6);
    for (const double q : {0.01, 0.5, 0.9, 0.99})
      EXPECT_NEAR(shot.percentile(q) / (unit * 10'000 * q), 1, 0.05) << unit << " " << q;
    EXPECT_EQ(shot.percentile(1), unit * 10'000);
    EXPECT_EQ(shot.percentile(0), shot.percentile(1e-9));
    EXPECT_EQ(shot.min, unit);
  }
}

TEST(Histogram, DifferenceOfSnapshotsHoldsOnlyLaterValues) {
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.record(5);
  const auto before = histogram.snapshot();
  EXPECT_EQ(histogram.snapshot().since(before).count, 0u);
  EXPECT_EQ(histogram.snapshot().since(before).percentile(0.5), 0);
  for (int i = 1; i <= 10; ++i) histogram.record(0.1 * i);
  const auto later = histogram.snapshot().since(before);
  EXPECT_EQ(later.count, 10u);
  EXPECT_NEAR(later.mean(), 0.55, 1e-9);
  EXPECT_NEAR(later.max / 1.0, 1, 0.05) << "the 5 came before";
  EXPECT_NEAR(later.percentile(0.5) / 0.5, 1, 0.05);
  EXPECT_EQ(histogram.snapshot().since({}).count, 1010u);
}

TEST(Histogram, AnEmptyOneIsAllZero) {
  const auto shot = Histogram().snapshot();
  EXPECT_EQ(shot.count, 0u);
  EXPECT_EQ(shot.min, 0);
  EXPECT_EQ(shot.max, 0);
  EXPECT_EQ(shot.percentile(0.5), 0);
  EXPECT_EQ(shot.mean(), 0);
}

TEST(Histogram, ValuesOutsideTheBucketsStillCount) {
  Histogram histogram;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, std::nan(""), 1e-12, 1e300, infinity}) histogram.record(value);
  const auto shot = histogram.snapshot();
  EXPECT_EQ(shot.count, 6u);
  EXPECT_EQ(shot.min, 0);
  EXPECT_EQ(shot.max, infinity);
  EXPECT_LE(shot.percentile(0.5), 1e-9);
}

TEST(Histogram, ThreadsLoseNothing) {
  Histogram histogram;
  {
    std::vector<std::jthread> threads;
    for (int t = 1; t <= 4; ++t)
      threads.emplace_back([&histogram, t] {
        for (int i = 0; i < 10'000; ++i) histogram.record(t);
      });
  }
  const auto shot = histogram.snapshot();
  EXPECT_EQ(shot.count, 40'000u);
  EXPECT_DOUBLE_EQ(shot.sum, 100'000);
  EXPECT_EQ(shot.buckets.size(), 4u);
}

}  // namespace
}  // namespace tutti
