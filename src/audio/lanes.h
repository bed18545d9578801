#pragma once

#include <cmath>
#include <cstring>
#include <numbers>

// Arithmetic on several numbers at once, written once and compiled for three generations of machines: 16, 8 and 4 lanes
// fill the vector registers of AVX-512, AVX2 and the baseline. Everything here is inlined into functions that name
// their target, because vectors wider than the baseline's cannot be passed between functions.
#pragma GCC diagnostic ignored "-Wpsabi"
#define TUTTI_INLINE [[gnu::always_inline]] inline
#define TUTTI_AVX512 gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#define TUTTI_AVX2 gnu::target("avx2,fma")

namespace tutti {

/// Whether functions of target TUTTI_AVX512 run on this machine.
inline bool runs_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
/// Whether functions of target TUTTI_AVX2 run on this machine.
inline bool runs_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

template <int lanes>
struct FloatVector {
  typedef float type __attribute__((vector_size(lanes * sizeof(float))));
  typedef int bits __attribute__((vector_size(lanes * sizeof(int))));
};
/// So many floats in one register.
template <int lanes>
using V = typename FloatVector<lanes>::type;

template <int lanes>
TUTTI_INLINE V<lanes> load(const float* from) {
  V<lanes> values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <int lanes>
TUTTI_INLINE void store(float* to, const V<lanes>& values) {
  std::memcpy(to, &values, sizeof values);
}

template <int lanes>
struct Complex {
  V<lanes> re, im;
};

/// A complex number of length 1.
struct Twiddle {
  float re, im;
};
/// exp(-2 pi i part).
inline Twiddle turn_by(double part) {
  const double angle = -2 * std::numbers::pi * part;
  return Twiddle{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

template <int lanes>
TUTTI_INLINE Complex<lanes> operator+(const Complex<lanes>& a, const Complex<lanes>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <int lanes>
TUTTI_INLINE Complex<lanes> operator-(const Complex<lanes>& a, const Complex<lanes>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <int lanes>
TUTTI_INLINE Complex<lanes> operator*(const Complex<lanes>& a, Twiddle w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}
/// a times -i.
template <int lanes>
TUTTI_INLINE Complex<lanes> quarter_turn(const Complex<lanes>& a) {
  return {a.im, -a.re};
}

/// Forward transform of 8 points in place; results in natural order.
template <int lanes>
TUTTI_INLINE void fft8(Complex<lanes>* x) {
  constexpr float r = 0.70710678118654752F;
  const auto a0 = x[0] + x[4], a1 = x[1] + x[5], a2 = x[2] + x[6], a3 = x[3] + x[7];
  const auto b0 = x[0] - x[4], b1 = x[1] - x[5], b2 = quarter_turn(x[2] - x[6]), b3 = x[3] - x[7];
  const Complex<lanes> c1{(b1.re + b1.im) * r, (b1.im - b1.re) * r};   // times exp(-i pi/4)
  const Complex<lanes> c3{(b3.im - b3.re) * r, (b3.re + b3.im) * -r};  // times exp(-3i pi/4)
  const auto even0 = a0 + a2, even1 = a1 + a3, odd0 = a0 - a2, odd1 = quarter_turn(a1 - a3);
  const auto p0 = b0 + b2, p1 = c1 + c3, q0 = b0 - b2, q1 = quarter_turn(c1 - c3);
  x[0] = even0 + even1;
  x[4] = even0 - even1;
  x[2] = odd0 + odd1;
  x[6] = odd0 - odd1;
  x[1] = p0 + p1;
  x[5] = p0 - p1;
  x[3] = q0 + q1;
  x[7] = q0 - q1;
}

/// The two bins k and n / 2 - k of a real transform of n points, as powers. `a` and `b` are bins k and n / 2 - k of the
/// complex transform of its even (real) and odd (imaginary) samples, halved; `turn` is exp(-2 pi i k / n).
template <int lanes>
TUTTI_INLINE void split_powers(const Complex<lanes>& a, const Complex<lanes>& b, Twiddle turn, V<lanes>& low,
                               V<lanes>& high) {
  const Complex<lanes> even{a.re + b.re, a.im - b.im};
  const auto odd = quarter_turn(Complex<lanes>{a.re - b.re, a.im + b.im}) * turn;
  const auto sum = even + odd, difference = even - odd;
  low = sum.re * sum.re + sum.im * sum.im;
  high = difference.re * difference.re + difference.im * difference.im;
}

/// e^x within 2e-7 of itself for |x| < 87; values beyond count as +-87.
template <int lanes>
TUTTI_INLINE V<lanes> exponential(V<lanes> x) {
  using Bits = typename FloatVector<lanes>::bits;
  constexpr float kMagic = 12582912;  // 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold
  x = x > 87.0F ? V<lanes>{} + 87.0F : x;
  x = x < -87.0F ? V<lanes>{} - 87.0F : x;
  const V<lanes> shifted = x * 1.4426950408889634F + kMagic;
  const V<lanes> twos = shifted - kMagic;
  const V<lanes> r = x - twos * 0.693359375F + twos * 2.12194440e-4F;
  // The Taylor series to the sixth power, |r| <= ln 2 / 2.
  const V<lanes> series = 1 + r * (1 + r * (0.5F + r * (1.0F / 6 + r * (1.0F / 24 + r * (1.0F / 120 + r / 720)))));
  return reinterpret_cast<V<lanes>>(reinterpret_cast<Bits>(series) + (reinterpret_cast<Bits>(shifted) << 23));
}

}  // namespace tutti
