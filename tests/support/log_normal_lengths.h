#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "base/units.h"

namespace tutti {

/// `count` lengths in seconds, log-normal: half of them below `median`; sigma of the logarithm.
inline std::vector<double> log_normal_lengths(std::size_t count, Seconds median, double sigma, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::normal_distribution<double> normal;
  std::vector<double> lengths;
  while (lengths.size() < count) lengths.push_back(median.count() * std::exp(sigma * normal(dice)));
  return lengths;
}

}  // namespace tutti
