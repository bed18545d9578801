#include "advise/item_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tutti {
namespace {

struct Moments {
  double mean = 0;
  double variation = 0;
};

Moments of_work(const std::vector<ItemTime>& items, std::size_t first, std::size_t count) {
  double sum = 0, squares = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    const double work = items[i].work.count();
    sum += work;
    squares += work * work;
  }
  const double n = static_cast<double>(count), mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean};
}

TEST(ItemDraw, HasDescribedMeanAndVariation) {
  for (const double variation : {0.0, 0.1, 0.5, 1.0}) {
    const auto items = draw_items({.mean = Seconds(0.012), .variation = variation}, 16384, 7);
    const Moments found = of_work(items, 0, items.size());
    EXPECT_NEAR(found.mean, 0.012, 0.0001) << variation;
    EXPECT_NEAR(found.variation, variation, 0.02 + 0.03 * variation);
  }
}

TEST(ItemDraw, FewItemsHaveNearlyTheMean) {
  const auto items = draw_items({.mean = Seconds(0.01), .variation = 0.5}, 4096, 3);
  for (std::size_t first = 0; first < items.size(); first += 128)
    EXPECT_NEAR(of_work(items, first, 128).mean, 0.01, 0.0003) << first;
}

TEST(ItemDraw, NeighboursAreNearlyIndependent) {
  const auto items = draw_items({.mean = Seconds(1), .variation = 0.5}, 16384, 11);
  const Moments all = of_work(items, 0, items.size());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < items.size(); ++i)
    sum += (items[i].work.count() - all.mean) * (items[i + 1].work.count() - all.mean);
  const double variance = std::pow(all.variation * all.mean, 2);
  EXPECT_LT(std::abs(sum / static_cast<double>(items.size()) / variance), 0.02);
}

TEST(ItemDraw, SumsOfAQueuesLengthVaryAsThoseOfIndependentItems) {
  constexpr std::size_t kSummed = 16;
  const auto items = draw_items({.mean = Seconds(1), .variation = 0.5}, 1 << 16, 4);
  std::vector<double> sums;
  for (std::size_t first = 0; first < items.size(); first += kSummed)
    sums.push_back(kSummed * of_work(items, first, kSummed).mean);
  double squares = 0;
  for (const double sum : sums) squares += (sum - kSummed) * (sum - kSummed);
  EXPECT_GT(squares / static_cast<double>(sums.size()), 0.75 * kSummed * 0.5 * 0.5);
}

TEST(ItemDraw, DescribedShareOfItemsStalls) {
  for (const double share : {0.0, 0.01, 0.02, 0.3, 1.0}) {
    const auto items = draw_items({.mean = Seconds(0.01), .stall_share = share, .stall = Seconds(0.3)}, 20000, 5);
    double stalls = 0;
    for (const ItemTime& item : items) stalls += item.stall == Seconds(0.3) ? 1 : 0;
    EXPECT_NEAR(stalls, 20000 * share, 4) << share;
  }
}

TEST(ItemDraw, LongerDrawBeginsWithShorterOne) {
  const TimesDescription times{.mean = Seconds(0.01), .variation = 1, .stall_share = 0.1, .stall = Seconds(1)};
  const auto few = draw_items(times, 100, 9), many = draw_items(times, 5000, 9);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].work, many[i].work);
    EXPECT_EQ(few[i].stall, many[i].stall);
  }
}

}  // namespace
}  // namespace tutti
