#include "balance/sim/workload.h"

#include <random>

namespace tutti {

std::vector<SimTask> with_error(std::span<const double> seconds, double error, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::uniform_real_distribution<double> off(-error, error);
  std::vector<SimTask> tasks;
  for (const double audio : seconds)
    tasks.push_back({.audio = Seconds(audio), .believed = Seconds(audio * (1 + (error > 0 ? off(dice) : 0)))});
  return tasks;
}

}  // namespace tutti
