#pragma once

#include "model/cpu/lanes.h"

namespace tutti {
namespace {

/// e^x for x <= 0, to a few units in the last place: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (coefficients of
/// Cephes' expf).
inline Lanes exponential(Lanes x) {
  constexpr float lowest = -87;      // below, the result would not be a normal number
  constexpr float magic = 12582912;  // 1.5 * 2^23: adding it rounds to a whole number
  constexpr std::int32_t magic_bits = 0x4b400000;
  const Lanes floor = Lanes{} + lowest;
  x = x < floor ? floor : x;
  const Lanes shifted = x * 1.44269504088896341f + magic;
  const Lanes n = shifted - magic;
  const Lanes r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Lanes y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  const auto power = bits_as<IntegerLanes>(shifted) - magic_bits;
  return bits_as<Lanes>(bits_as<IntegerLanes>(y) + (power << 23));
}

/// x / 2 (1 + erf(x / sqrt 2)), within 2e-7 |x|: erf by Abramowitz and Stegun, formula 7.1.26.
inline Lanes gelu(const Lanes& x) {
  const Lanes z = (x < 0 ? -x : x) * 0.70710678118654752f;
  const Lanes t = 1.0f / (z * 0.3275911f + 1.0f);
  Lanes y = t * 1.061405429f - 1.453152027f;
  y = y * t + 1.421413741f;
  y = y * t - 0.284496736f;
  y = y * t + 0.254829592f;
  const Lanes beyond = y * t * exponential(-z * z);  // 1 - erf(z)
  return x * 0.5f * (x < 0 ? beyond : 2.0f - beyond);
}

}  // namespace
}  // namespace tutti
