#include "audio/mel/mel_kernel.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "audio/lanes.h"

namespace tutti {
namespace {

constexpr int kHalf = kMelFft / 2;                         // points of the complex transform
constexpr int kHops = (kMelSpan + kMelHop - 1) / kMelHop;  // hops that the lanes' frames touch
constexpr int kHopStride = kHops + 2;                      // a multiple of 4 floats

/// Numbers that depend on nothing, made once.
struct Constants {
  std::array<float, kMelFft> window{};  // Hann in float32 like the reference's, halved (the split below doubles)
  std::array<int, kMelFft> index{};     // where a frame's sample is among the transposed hops
  std::array<std::array<Twiddle, 5>, 5> turn25{};
  std::array<Twiddle, kHalf / 2 + 1> turn400{};

  Constants() {
    for (int n = 0; n < kMelFft; ++n) {
      const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * n / kMelFft);
      window[static_cast<std::size_t>(n)] = 0.5F * static_cast<float>(hann);
      index[static_cast<std::size_t>(n)] = n % kMelHop * kHopStride + n / kMelHop;
    }
    for (unsigned b = 0; b < 5; ++b)
      for (unsigned c = 0; c < 5; ++c) turn25[b][c] = turn_by(b * c / 25.0);
    for (unsigned k = 0; k < turn400.size(); ++k) turn400[k] = turn_by(k / 400.0);
  }
};
const Constants constants;

/// Forward transform of the 5 points at a stride, in place.
template <int lanes>
TUTTI_INLINE void fft5(Complex<lanes>* x, int stride) {
  constexpr float c1 = 0.30901699437494742F, c2 = -0.80901699437494742F;
  constexpr float s1 = 0.95105651629515357F, s2 = 0.58778525229247313F;
  const auto x0 = x[0];
  const auto t1 = x[stride] + x[4 * stride], t2 = x[2 * stride] + x[3 * stride];
  const auto t3 = x[stride] - x[4 * stride], t4 = x[2 * stride] - x[3 * stride];
  const Complex<lanes> m1{x0.re + t1.re * c1 + t2.re * c2, x0.im + t1.im * c1 + t2.im * c2};
  const Complex<lanes> m2{x0.re + t1.re * c2 + t2.re * c1, x0.im + t1.im * c2 + t2.im * c1};
  const auto n1 = quarter_turn(Complex<lanes>{t3.re * s1 + t4.re * s2, t3.im * s1 + t4.im * s2});
  const auto n2 = quarter_turn(Complex<lanes>{t3.re * s2 - t4.re * s1, t3.im * s2 - t4.im * s1});
  x[0] = x0 + t1 + t2;
  x[stride] = m1 + n1;
  x[4 * stride] = m1 - n1;
  x[2 * stride] = m2 + n2;
  x[3 * stride] = m2 - n2;
}

/// Forward transform of 25 points in place; frequency 5 * d + c ends at 5 * c + d.
template <int lanes>
TUTTI_INLINE void fft25(Complex<lanes>* x) {
  for (int b = 0; b < 5; ++b) {
    fft5(x + b, 5);
    if (b == 0) continue;
    for (int c = 1; c < 5; ++c)
      x[b + 5 * c] = x[b + 5 * c] * constants.turn25[static_cast<std::size_t>(b)][static_cast<std::size_t>(c)];
  }
  for (int c = 0; c < 5; ++c) fft5(x + 5 * c, 1);
}

/// The index of frequency k of the 200-point transform after both steps: row k mod 8, then k mod 25 in fft25's order.
constexpr int index_of(int k) {
  return k % 8 * 25 + k % 25 % 5 * 5 + k % 25 / 5;
}

/// The hops side by side: row = sample within the hop, column = hop. Frames overlap, so a frame's sample n of all lanes
/// is one unaligned load from row n mod 160.
void transpose_hops(const std::int16_t* samples, float* rows) {
  for (int hop = 0; hop < kHops; ++hop) {
    const int held = std::min(kMelHop, kMelSpan - hop * kMelHop);
    for (int i = 0; i < held; ++i)
      rows[i * kHopStride + hop] = static_cast<float>(samples[hop * kMelHop + i]) * (1.0F / 32768);
  }
}

template <int lanes>
TUTTI_INLINE V<lanes> windowed(const float* rows, int n) {
  const auto at = static_cast<std::size_t>(n);
  return load<lanes>(rows + constants.index[at]) * constants.window[at];
}

/// 200-point transform of the even (real part) and odd (imaginary part) samples.
template <int lanes>
TUTTI_INLINE void transform(const float* rows, Complex<lanes>* z) {
  for (int n2 = 0; n2 < 25; ++n2) {
    Complex<lanes> x[8];
    for (int n1 = 0; n1 < 8; ++n1) {
      const int n = (25 * n1 + 8 * n2) % kHalf;
      x[n1] = {windowed<lanes>(rows, 2 * n), windowed<lanes>(rows, 2 * n + 1)};
    }
    fft8(x);
    for (int k1 = 0; k1 < 8; ++k1) z[k1 * 25 + n2] = x[k1];
  }
  for (int k1 = 0; k1 < 8; ++k1) fft25(z + k1 * 25);
}

/// Splits the transform of even and odd samples into the real transform's bins, two at a time, and squares.
template <int lanes>
TUTTI_INLINE void powers(const Complex<lanes>* z, V<lanes>* power) {
  for (int k = 0; k <= kHalf / 2; ++k) {
    const auto& a = z[index_of(k)];
    const auto& b = z[index_of((kHalf - k) % kHalf)];
    split_powers(a, b, constants.turn400[static_cast<std::size_t>(k)], power[k], power[kHalf - k]);
  }
}

template <int lanes>
TUTTI_INLINE void mel_power_of_lanes(const std::vector<MelFilter>& filters, const float* rows, float* out) {
  Complex<lanes> z[kHalf];
  V<lanes> power[kMelBins];
  transform<lanes>(rows, z);
  powers<lanes>(z, power);
  for (std::size_t mel = 0; mel < filters.size(); ++mel) {
    const V<lanes>* bin = power + filters[mel].first_bin;
    V<lanes> sum{};
    for (const float weight : filters[mel].weights) sum += *bin++ * weight;
    std::memcpy(out + mel * kMelLanes, &sum, sizeof sum);
  }
}

template <int lanes>
TUTTI_INLINE void mel_power_by(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out) {
  float rows[kMelHop * kHopStride];
  transpose_hops(samples, rows);
  for (int lane = 0; lane < kMelLanes; lane += lanes) mel_power_of_lanes<lanes>(filters, rows + lane, out + lane);
}

TUTTI_INLINE void log10_by_formula(float* powers, std::int64_t count) {
  constexpr float kLog10Of2 = 0.30102999566398120F, kLog10OfE = 0.43429448190325183F;
  for (std::int64_t i = 0; i < count; ++i) {
    const float power = powers[i] > 1e-10F ? powers[i] : 1e-10F;
    std::int32_t bits;
    std::memcpy(&bits, &power, sizeof bits);
    const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;  // so that the mantissa is in [sqrt(1/2), sqrt(2))
    bits -= exponent * (1 << 23);
    float mantissa;
    std::memcpy(&mantissa, &bits, sizeof mantissa);
    // ln m = 2 artanh((m - 1) / (m + 1)); the series' first term left out is below 1e-9 here.
    const float s = (mantissa - 1) / (mantissa + 1), t = s * s;
    const float ln = 2 * s * (1 + t * (1.0F / 3 + t * (1.0F / 5 + t * (1.0F / 7 + t * (1.0F / 9)))));
    powers[i] = static_cast<float>(exponent) * kLog10Of2 + ln * kLog10OfE;
  }
}

[[TUTTI_AVX512]] void mel_power_avx512(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out) {
  mel_power_by<16>(filters, samples, out);
}
[[TUTTI_AVX2]] void mel_power_avx2(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out) {
  mel_power_by<8>(filters, samples, out);
}
void mel_power_any(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out) {
  mel_power_by<4>(filters, samples, out);
}
[[TUTTI_AVX512]] void log10_avx512(float* powers, std::int64_t count) {
  log10_by_formula(powers, count);
}
[[TUTTI_AVX2]] void log10_avx2(float* powers, std::int64_t count) {
  log10_by_formula(powers, count);
}
void log10_any(float* powers, std::int64_t count) {
  log10_by_formula(powers, count);
}

std::vector<MelKernel> kernels_here() {
  std::vector<MelKernel> kernels;
  if (runs_avx512()) kernels.push_back({"avx512", mel_power_avx512, log10_avx512});
  if (runs_avx2()) kernels.push_back({"avx2", mel_power_avx2, log10_avx2});
  kernels.push_back({"any", mel_power_any, log10_any});
  return kernels;
}

}  // namespace

std::span<const MelKernel> mel_kernels() {
  static const std::vector<MelKernel> kernels = kernels_here();
  return kernels;
}

}  // namespace tutti
