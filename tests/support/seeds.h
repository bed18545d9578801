#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace tutti {

/// Seeds for a property test: `count` fresh ones, or the single one in $TUTTI_SEED, to repeat a failure.
inline std::vector<std::uint64_t> seeds(int count) {
  if (const char* named = std::getenv("TUTTI_SEED"); named && *named) return {std::stoull(named)};
  std::vector<std::uint64_t> fresh;
  for (std::random_device device; count > 0; --count) fresh.push_back(device());
  return fresh;
}

/// The dice of one run of a property.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  bool coin() { return between(0, 1) == 1; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tutti

/// In a test's loop over `seeds`: every failure below names the seed.
#define TUTTI_SEED_TRACE(seed) SCOPED_TRACE("repeat with TUTTI_SEED=" + std::to_string(seed))
