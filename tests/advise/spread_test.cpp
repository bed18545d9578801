#include "advise/spread.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

TEST(Spread, HasMeanDeviationAndNearestPercentiles) {
  std::vector<Seconds> times;
  for (int i = 101; i > 0; --i) times.emplace_back(i);
  const Spread spread = spread_of(times);
  EXPECT_NEAR(spread.mean.count(), 51, 1e-9);
  EXPECT_NEAR(spread.deviation.count(), std::sqrt((101 * 101 - 1) / 12.0), 1e-9);
  EXPECT_EQ(spread.least, Seconds(1));
  EXPECT_EQ(spread.most, Seconds(101));
  EXPECT_EQ(spread.p50, Seconds(51));
  EXPECT_EQ(spread.p95, Seconds(96));
}

TEST(Spread, NothingHasNone) {
  EXPECT_EQ(spread_of({}).mean, Seconds(0));
  EXPECT_EQ(spread_of({}).variation(), 0);
  EXPECT_EQ(spread_of({Seconds(0)}).variation(), 0);
}

TEST(Spread, StallsAreBeyondTenMedians) {
  std::vector<Seconds> times(9, Seconds(1));
  times.emplace_back(10);
  EXPECT_EQ(stalls_in(times, spread_of(times)), 0U);
  times.emplace_back(10.1);
  EXPECT_EQ(stalls_in(times, spread_of(times)), 1U);
}

}  // namespace
}  // namespace tutti
