#include "planning/cost/shown_amounts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/numbers.h"

namespace tutti {
namespace {

constexpr int kMostDecimals = 8;

int decimals_of(double sum) {
  int decimals = 2;
  for (double shown = sum; shown > 0 && shown < 10 && decimals < kMostDecimals; shown *= 10) ++decimals;
  return decimals;
}

}  // namespace

/// Those that lose most by rounding down are rounded up.
ShownAmounts::ShownAmounts(const std::vector<double>& amounts) {
  const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  decimals_ = decimals_of(sum);
  const double scale = std::pow(10.0, decimals_);
  std::int64_t missing = std::llround(sum * scale);
  std::vector<std::pair<double, std::size_t>> lost;  // with the amount's index
  for (const double amount : amounts) {
    const double whole = std::trunc(amount * scale);
    lost.emplace_back(amount * scale - whole, units_.size());
    units_.push_back(static_cast<std::int64_t>(whole));
    missing -= units_.back();
  }
  std::ranges::stable_sort(lost, std::ranges::greater(), [](const auto& one) { return one.first; });
  for (std::size_t i = 0; i < lost.size() && missing > 0; ++i, --missing) ++units_[lost[i].second];
}

std::string ShownAmounts::text(const std::vector<std::size_t>& indices) const {
  std::int64_t sum = 0;
  for (const std::size_t index : indices) sum += units_.at(index);
  return text_of(sum);
}

std::string ShownAmounts::text_of(std::int64_t units) const {
  return fixed_text(static_cast<double>(units) / std::pow(10.0, decimals_), decimals_);
}

}  // namespace tutti
