#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

/// A recording in a simulation: its length, and the length that the dispatcher gets.
struct SimJob {
  Seconds audio{};
  Seconds believed{};
};

/// Recordings of these lengths, each believed to be off by up to ± `error` (0.3: between 0.7 and 1.3 times), evenly.
std::vector<SimJob> with_error(std::span<const double> seconds, double error, std::uint64_t seed);

}  // namespace tutti
