#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __AVX512F__
#include "model/cpu/one_register.h"
#else
#include "model/cpu/two_registers.h"
#endif

// Sixteen floats at a time, for the kernels that are compiled once per instruction set. Everything has internal
// linkage: the linker must not take one file's instructions for another's.
namespace tutti {
namespace {

constexpr std::int64_t kLanes = 16;

// Adding 1.5 * 2^23 rounds a small number to a whole one, which the low bits then hold.
constexpr float kRounding = 12582912;
constexpr std::int32_t kRoundingBits = 0x4b400000;

// Numbers are stored as multiples of a scale, found by its reciprocal; of less than this there is none.
constexpr float kLeastScale = 1e-30f;

/// The larger of the scales by the largest number and by the length of a row; 1 where neither needs one.
inline float scale_within(float by_value, float by_length) {
  const float scale = by_value > by_length ? by_value : by_length;
  return scale > kLeastScale ? scale : 1;
}

using HalfLanes = std::uint16_t __attribute__((vector_size(32)));

template <class To, class From>
inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline Lanes absolute(const Lanes& lanes) {
  return bits_as<Lanes>(bits_as<IntegerLanes>(lanes) & 0x7fffffff);
}

/// What was added up to kRounding, as whole numbers.
inline IntegerLanes whole_below(const Lanes& shifted) {
  return bits_as<IntegerLanes>(shifted) - kRoundingBits;
}

/// 2^n in the bits of a float's exponent, of an n that was added up to kRounding: what that put above the low bits
/// falls out.
inline IntegerLanes exponent_below(const Lanes& shifted) {
  return bits_as<IntegerLanes>(shifted) << 23;
}

/// The nearest whole numbers as numbers of sixteen bits, of lanes that they hold: the low bits alone.
template <class Halves>
inline Halves rounded_halves(const Lanes& lanes) {
  return narrowed<Halves>(bits_as<IntegerLanes>(lanes + kRounding));
}

/// The nearest whole numbers, of lanes below 2^22.
inline IntegerLanes rounded(const Lanes& lanes) {
  return whole_below(lanes + kRounding);
}

inline void load(Lanes& lanes, const float* from) {
  lanes = read_lanes<Lanes>(from);
}

/// bfloat16 is the upper half of a float32.
inline void load(Lanes& lanes, const std::uint16_t* from) {
  HalfLanes halves;
  std::memcpy(&halves, from, sizeof halves);
  lanes = bits_as<Lanes>(widened(halves) << 16);
}

inline void load(Lanes& lanes, const std::int32_t* from) {
  lanes = as_floats(read_lanes<IntegerLanes>(from));
}

inline void store(float* to, const Lanes& lanes) {
  write_lanes(to, lanes);
}

/// The first `count` lanes, at most sixteen; the others are 0.
inline void load_some(Lanes& lanes, const float* from, std::int64_t count) {
  if (count >= kLanes) return load(lanes, from);
  float some[kLanes] = {};
  std::memcpy(some, from, static_cast<std::size_t>(count) * sizeof *from);
  load(lanes, some);
}

/// The first `count` of sixteen elements, at most all of them.
template <class Element, class Sixteen>
inline void write_some(Element* to, const Sixteen& elements, std::int64_t count) {
  static_assert(sizeof elements == kLanes * sizeof *to);
  if (count >= kLanes) return write_lanes(to, elements);
  Element some[kLanes];
  write_lanes(some, elements);
  std::memcpy(to, some, static_cast<std::size_t>(count) * sizeof *to);
}

/// The nearest bfloat16, halves to even, in the lower sixteen bits of every lane.
inline WordLanes to_bfloat16(const Lanes& lanes) {
  const auto bits = bits_as<WordLanes>(lanes);
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}

/// The same, each in sixteen bits. The processor's own instruction makes zeros of numbers below 2^-126.
inline HalfLanes narrowed_to_bfloat16(const Lanes& lanes) {
#if defined(__AVX512BF16__) && !defined(__clang__)  // clang 14, of tidy, calls it otherwise
  return bits_as<HalfLanes>(__builtin_ia32_cvtneps2bf16_v16sf(lanes));
#else
  return narrowed<HalfLanes>(to_bfloat16(lanes));
#endif
}

/// Folded in halves: sixteen operations in a row would cost more than what they follow.
template <class Fold>
inline float folded(const Lanes& lanes, Fold fold) {
  using Eight = float __attribute__((vector_size(32)));
  using Four = float __attribute__((vector_size(16)));
  Eight eight[2];
  std::memcpy(eight, &lanes, sizeof lanes);
  const Eight half = fold(eight[0], eight[1]);
  Four four[2];
  std::memcpy(four, &half, sizeof half);
  const Four rest = fold(four[0], four[1]);
  return fold(fold(rest[0], rest[2]), fold(rest[1], rest[3]));
}

inline float sum(const Lanes& lanes) {
  return folded(lanes, [](auto a, auto b) { return a + b; });
}

inline float largest(const Lanes& lanes) {
  return folded(lanes, [](auto a, auto b) { return a > b ? a : b; });
}

}  // namespace
}  // namespace tutti
