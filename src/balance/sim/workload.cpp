#include "balance/sim/workload.h"

#include <cmath>

namespace tutti {

std::vector<SimTask> with_error(std::span<const double> seconds, double error, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::uniform_real_distribution<double> off(-error, error);
  std::vector<SimTask> tasks;
  for (const double audio : seconds)
    tasks.push_back({.audio = Seconds(audio), .believed = Seconds(audio * (1 + (error > 0 ? off(dice) : 0)))});
  return tasks;
}

std::vector<double> log_normal_lengths(std::size_t count, Seconds median, double sigma, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::normal_distribution<double> normal;
  std::vector<double> lengths;
  while (lengths.size() < count) lengths.push_back(median.count() * std::exp(sigma * normal(dice)));
  return lengths;
}

}  // namespace tutti
