#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Sixteen floats at a time, for the kernels that are compiled once per instruction set. Everything has internal
// linkage: the linker must not take one file's instructions for another's.
namespace tutti {
namespace {

using Lanes = float __attribute__((vector_size(64)));
constexpr std::int64_t kLanes = 16;

inline void load(Lanes& lanes, const float* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}

/// bfloat16 is the upper half of a float32.
inline void load(Lanes& lanes, const std::uint16_t* from) {
  using Halves = std::uint16_t __attribute__((vector_size(32)));
  using Words = std::uint32_t __attribute__((vector_size(64)));
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const Words words = __builtin_convertvector(halves, Words) << 16;
  std::memcpy(&lanes, &words, sizeof lanes);
}

/// Folded in halves: sixteen additions in a row would cost more than the products.
inline float sum(const Lanes& lanes) {
  using Eight = float __attribute__((vector_size(32)));
  using Four = float __attribute__((vector_size(16)));
  Eight eight[2];
  std::memcpy(eight, &lanes, sizeof lanes);
  const Eight folded = eight[0] + eight[1];
  Four four[2];
  std::memcpy(four, &folded, sizeof folded);
  const Four rest = four[0] + four[1];
  return (rest[0] + rest[2]) + (rest[1] + rest[3]);
}

}  // namespace
}  // namespace tutti
