#pragma once

#include "model/cpu/lanes.h"

namespace tutti {
namespace {

/// e^x for x <= 0, to a few units in the last digit: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (coefficients of
/// Cephes' expf).
inline Lanes exponential(Lanes x) {
  constexpr float lowest = -87;  // below, the result would not be a normal number
  const Lanes floor = Lanes{} + lowest;
  x = larger(floor, x);
  const Lanes shifted = x * 1.44269504088896341f + kRounding;
  const Lanes n = shifted - kRounding;
  const Lanes r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Lanes y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  return bits_as<Lanes>(bits_as<IntegerLanes>(y) + exponent_below(shifted));
}

/// x / 2 (1 + erf(x / sqrt 2)), within 2e-7 |x|: erf by Abramowitz and Stegun, formula 7.1.26.
inline Lanes gelu(const Lanes& x) {
  const Lanes z = where(x < 0, -x, x) * 0.70710678118654752f;
  const Lanes t = 1.0f / (z * 0.3275911f + 1.0f);
  Lanes y = t * 1.061405429f - 1.453152027f;
  y = y * t + 1.421413741f;
  y = y * t - 0.284496736f;
  y = y * t + 0.254829592f;
  // 1 - erf(z). From 8 on it is nothing beside 1, but soon no normal number any more: those cost the next product a
  // hundred times its time.
  const Lanes beyond = where(z < 8, y * t * exponential(-z * z), Lanes{});
  return x * 0.5f * where(x < 0, beyond, 2.0f - beyond);
}

constexpr float kLogOfE = 1.44269504088896341f;  // to the base 2

/// 2^x for x <= 0, within 1e-4 of itself: for results that bfloat16 keeps no more of.
inline Lanes rough_power_of_two(const Lanes& x) {
  constexpr float lowest = -126;
  const Lanes power = larger(Lanes{} + lowest, x);
  const Lanes shifted = power + kRounding;
  const Lanes r = power - (shifted - kRounding);
  // 2^r on [-1/2, 1/2], fitted for the least relative error.
  Lanes y = r * 0.0551710114f + 0.242611207f;
  y = y * r + 0.693261079f;
  y = y * r + 0.999928073f;
  return bits_as<Lanes>(bits_as<IntegerLanes>(y) + exponent_below(shifted));
}

/// gelu within 2e-4: for results that are rounded to bfloat16 or int8. The polynomial is erf(x / sqrt 2) on [-4, 4],
/// fitted for the least error of gelu.
inline Lanes rough_gelu(const Lanes& x) {
  const Lanes bound = Lanes{} + 4.0f;
  const Lanes z = larger(smaller(x, bound), -bound);
  const Lanes u = z * z;
  Lanes y = u * 4.55609737e-8f - 3.1971083e-6f;
  y = y * u + 9.59091558e-5f;
  y = y * u - 1.62801298e-3f;
  y = y * u + 1.75446905e-2f;
  y = y * u - 0.129146039f;
  y = y * u + 0.795766592f;
  const Lanes half = x * 0.5f;
  // Beyond 4 what is left of the error would grow with x.
  const Lanes erf = where(x >= bound, Lanes{} + 1.0f, where(x <= -bound, Lanes{} - 1.0f, y * z));
  return half + half * erf;
}

}  // namespace
}  // namespace tutti
