#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace tutti {

/// Amounts of money that are shown beside each other: rounded so that they add up to their rounded sum. Each is off by
/// less than one of the last digit. That is the hundredth, and finer where all together is less than ten, so that small
/// parts still show.
class ShownAmounts {
 public:
  explicit ShownAmounts(const std::vector<double>& amounts);

  /// The sum of some of them, by their indices.
  std::string text(const std::vector<std::size_t>& indices) const;
  /// One of them.
  std::string text(std::size_t index) const { return text(std::vector{index}); }
  /// All of them.
  std::string sum() const { return text_of(std::accumulate(units_.begin(), units_.end(), std::int64_t{0})); }

 private:
  std::string text_of(std::int64_t units) const;

  int decimals_ = 2;
  std::vector<std::int64_t> units_{};  // of the last digit
};

}  // namespace tutti
