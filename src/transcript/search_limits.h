#pragma once

#include <cstdint>

namespace tutti {

// The most that a search may be asked for: the command line refuses more by the flag's name, the decoder by the
// request's field.
inline constexpr std::int32_t kMostBeams = 64;  // or samples
inline constexpr double kMostPatience = 100;

}  // namespace tutti
