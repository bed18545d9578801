#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {

/// Mean and spread of a value over time: each reading counts by how long it held. Plain data.
class TimeWeighted {
 public:
  void add(double value, double seconds) {
    weight_ += seconds;
    sum_ += seconds * value;
    squares_ += seconds * value * value;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  /// Nothing was added; the rest is only known otherwise.
  bool is_empty() const { return weight_ <= 0; }
  double mean() const { return sum_ / weight_; }
  double variance() const { return std::max(0.0, squares_ / weight_ - mean() * mean()); }
  double deviation() const { return std::sqrt(variance()); }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  double weight_ = 0, sum_ = 0, squares_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

/// Field note 004's word for a device's utilisation (0 to 1): full one moment and idle the next.
inline bool is_bursty(const TimeWeighted& utilisation) {
  return !utilisation.is_empty() && utilisation.deviation() > 0.25;
}

}  // namespace tutti
