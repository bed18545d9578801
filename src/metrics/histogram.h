#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tutti {

/// What a histogram held at one moment. Plain data.
struct HistogramSnapshot {
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;  ///< exact; 0 where nothing was recorded
  double max = 0;
  std::vector<std::pair<double, std::uint64_t>>
      buckets;  ///< (upper bound, values in it), ascending, empty ones left out

  double mean() const { return count ? sum / static_cast<double>(count) : 0; }
  /// The value below which the share `q` (0..1) of the values is, off by at most 5 %; 0 where nothing was recorded.
  double percentile(double q) const;
  /// What the same histogram has recorded since an earlier snapshot. Its largest value is known to 5 %, of its smallest
  /// only that it is no less than `min`.
  HistogramSnapshot since(const HistogramSnapshot& before) const;
};

/// Distribution of non-negative values (seconds, bytes) in logarithmic buckets, 16 to the octave from 1e-9 to 1e14.
/// Recording is a few relaxed atomic operations, no lock, from any thread. A snapshot taken meanwhile may miss the
/// values of that instant.
class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  /// Negative values and NaN count as 0.
  void record(double value);
  HistogramSnapshot snapshot() const;

 private:
  static constexpr int kPerOctave = 16;
  static constexpr int kLowest = -30;  // 2^-30 is about 1e-9
  static constexpr int kHighest = 47;  // 2^47 is about 1.4e14
  static constexpr std::size_t kBuckets = (kHighest - kLowest) * kPerOctave + 1;

  static std::size_t bucket_of(double value);
  static double upper_bound(std::size_t bucket);

  std::vector<std::atomic<std::uint64_t>> counts_;  // the first holds what is below the lowest bound
  std::atomic<double> sum_ = 0;
  std::atomic<double> min_ = std::numeric_limits<double>::infinity();
  std::atomic<double> max_ = 0;
};

}  // namespace tutti
