#pragma once

#include <cstdint>
#include <cstring>

// Sixteen numbers on processors whose registers hold as many (AVX-512): g++'s own vectors, and the few functions that
// two_registers.h has to write differently.
namespace tutti {
namespace {

using Lanes = float __attribute__((vector_size(64)));
using IntegerLanes = std::int32_t __attribute__((vector_size(64)));
using WordLanes = std::uint32_t __attribute__((vector_size(64)));
using FloatRegister = Lanes;
using WordRegister = WordLanes;

template <class Vector>
inline Vector read_lanes(const void* from) {
  Vector lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class Vector>
inline void write_lanes(void* to, const Vector& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <class Mask, class Vector>
inline Vector where(const Mask& mask, const Vector& yes, const Vector& no) {
  return mask ? yes : no;
}

template <class To, class Vector>
inline To narrowed(const Vector& from) {
  return __builtin_convertvector(from, To);
}

template <class Halves>
inline WordLanes widened(const Halves& from) {
  return __builtin_convertvector(from, WordLanes);
}

inline Lanes as_floats(const IntegerLanes& whole) {
  return __builtin_convertvector(whole, Lanes);
}

}  // namespace
}  // namespace tutti
