#pragma once

#include <immintrin.h>

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

/// Lane by lane; b where one of them is not a number.
inline Lanes larger(const Lanes& a, const Lanes& b) {
  return reinterpret_cast<Lanes>(_mm512_max_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
}

inline Lanes smaller(const Lanes& a, const Lanes& b) {
  return reinterpret_cast<Lanes>(_mm512_min_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
}

inline IntegerLanes larger(const IntegerLanes& a, const IntegerLanes& b) {
  return reinterpret_cast<IntegerLanes>(_mm512_max_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

template <class To, class Vector>
inline To narrowed(const Vector& from) {
  if constexpr (sizeof(To) == sizeof(Vector) / 2) {  // by one instruction, where g++ takes a permutation and its table
    return reinterpret_cast<To>(_mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(from)));
  } else {
    return __builtin_convertvector(from, To);
  }
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
