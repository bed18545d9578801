#pragma once

#include <cstdint>

namespace tutti {

// The most that a search may request: the command line refuses more by the flag's name, the decoder by the request's
// field.
inline constexpr std::int32_t kMostBeams = 64;  // or samples
inline constexpr double kMostPatience = 100;
// The bounds of a temperature that is not 0: logits divided by it stay finite, and differ from one another.
inline constexpr double kLeastTemperature = 0.001;
inline constexpr double kMostTemperature = 100;

}  // namespace tutti
