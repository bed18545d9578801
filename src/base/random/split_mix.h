#pragma once

#include <cstdint>

namespace tutti {

/// What SplitMix64 (Steele, Lea, Flood 2014) adds to its state at every step.
inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15U;

/// SplitMix64's finaliser: every bit that goes in reaches every bit that comes out.
constexpr std::uint64_t finalised(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The number that SplitMix64 gives behind the state `x`.
constexpr std::uint64_t split_mixed(std::uint64_t x) {
  return finalised(x + kSplitMixStep);
}

}  // namespace tutti
