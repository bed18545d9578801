#pragma once

#include <cmath>

#include "model/decoder_step/numbers.h"

namespace tutti {

// IEEE 754 binary16 by its definition, for compilers without a half type.

inline float widened(Half value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16, exponent = (value.bits >> 10) & 31U;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 0) {
    const float subnormal = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -subnormal : subnormal;
  }
  if (exponent == 31) return float_of(sign | 0x7f800000U | (fraction << 13));
  return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
}

template <>
inline Half narrowed<Half>(float value) {
  constexpr std::uint32_t kSmallestNormal = 0x38800000, kInfinite = 0x477ff000, kNotANumber = 0x7f800001;
  const auto bits = bits_of(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U, size = bits & 0x7fffffffU;
  std::uint32_t half;
  if (size >= kNotANumber)
    half = 0x7e00;
  else if (size >= kInfinite)
    half = 0x7c00;
  else if (size < kSmallestNormal)
    half = static_cast<std::uint32_t>(std::lrint(float_of(size) * 0x1p24F));
  else
    half = (size + 0xfffU + ((size >> 13) & 1U) - (112U << 23)) >> 13;
  return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace tutti
