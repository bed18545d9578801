#pragma once

#include <cstdint>
#include <string>

#include "base/random/counter_random.h"

namespace tutti {

/// What everything random about a sample in an epoch is drawn from.
inline std::uint64_t sample_key(std::uint64_t seed, std::int64_t epoch, const std::string& id) {
  return mixed({seed, static_cast<std::uint64_t>(epoch), digest(id)});
}

}  // namespace tutti
