#include "metrics/histogram.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

template <class Better>
void keep(std::atomic<double>& best, double value, Better is_better) {
  double seen = best.load(std::memory_order_relaxed);
  while (is_better(value, seen) && !best.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

double HistogramSnapshot::percentile(double q) const {
  if (count == 0) return 0;
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count);
  std::uint64_t below = 0;
  for (const auto& [bound, values] : buckets) {
    below += values;
    if (static_cast<double>(below) >= rank) return std::clamp(bound, min, max);
  }
  return max;
}

HistogramSnapshot HistogramSnapshot::since(const HistogramSnapshot& before) const {
  HistogramSnapshot later;
  auto old = before.buckets.begin();
  for (const auto& [bound, values] : buckets) {
    while (old != before.buckets.end() && old->first < bound) ++old;
    const auto had = old != before.buckets.end() && old->first == bound ? old->second : 0;
    if (values == had) continue;
    later.count += values - had;
    later.buckets.emplace_back(bound, values - had);
  }
  if (later.count == 0) return later;
  later.sum = sum - before.sum;
  later.min = min;
  later.max = std::min(max, later.buckets.back().first);
  return later;
}

std::size_t Histogram::bucket_of(double value) {
  const double place = (std::log2(value) - kLowest) * kPerOctave;
  if (!(place >= 0)) return 0;  // also 0, whose logarithm is -inf
  return std::min(kBuckets - 1, static_cast<std::size_t>(std::min(place, 1e6)) + 1);
}

double Histogram::upper_bound(std::size_t bucket) {
  return std::exp2(kLowest + static_cast<double>(bucket) / kPerOctave);
}

void Histogram::record(double value) {
  if (!(value > 0)) value = 0;
  counts_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  keep(min_, value, std::less<>());
  keep(max_, value, std::greater<>());
}

HistogramSnapshot Histogram::snapshot() const {
  HistogramSnapshot shot;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto values = counts_[i].load(std::memory_order_relaxed);
    if (values == 0) continue;
    shot.count += values;
    shot.buckets.emplace_back(upper_bound(i), values);
  }
  if (shot.count == 0) return shot;
  shot.sum = sum_.load(std::memory_order_relaxed);
  // A value is counted a moment before it becomes the extreme.
  shot.min = std::min(min_.load(std::memory_order_relaxed), shot.buckets.back().first);
  shot.max = std::max(max_.load(std::memory_order_relaxed), shot.min);
  return shot;
}

}  // namespace tutti
