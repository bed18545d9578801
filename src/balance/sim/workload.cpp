#include "balance/sim/workload.h"

#include <random>

namespace tutti {

std::vector<SimJob> with_error(std::span<const double> seconds, double error, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::uniform_real_distribution<double> off(-error, error);
  std::vector<SimJob> jobs;
  for (const double audio : seconds)
    jobs.push_back({.audio = Seconds(audio), .believed = Seconds(audio * (1 + (error > 0 ? off(dice) : 0)))});
  return jobs;
}

}  // namespace tutti
