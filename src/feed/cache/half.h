#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace tutti {

// IEEE half precision by integer arithmetic that compilers turn into vector code on any machine. Features lie between
// -2 and 4, so infinities and NaN are not provided for; what is beyond 65504 becomes that.

/// To the nearest, ties to even.
inline std::uint16_t to_half(float value) {
  constexpr float kLargest = 65504;
  value = value > kLargest ? kLargest : value < -kLargest ? -kLargest : value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Moves the exponent down by 112, which also makes the small ones subnormal, as they are in half precision.
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits & 0x7fffffffU) * 0x1p-112F);
  const std::uint32_t rounded = small + 0xfffU + ((small >> 13) & 1U);  // to the nearest, ties to even
  return static_cast<std::uint16_t>(rounded >> 13 | bits >> 31 << 15);
}

/// Exact.
inline float from_half(std::uint16_t half) {
  const std::uint32_t bits = (half & 0x7fffU) << 13;
  const float value = std::bit_cast<float>(bits) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | static_cast<std::uint32_t>(half & 0x8000U) << 16);
}

}  // namespace tutti
