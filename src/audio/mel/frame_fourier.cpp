#include "audio/mel/frame_fourier.h"

#include <bit>
#include <stdexcept>
#include <utility>

namespace tutti {
namespace {

constexpr int kRow = FrameFourier::kFrames;

template <int lanes>
TUTTI_INLINE Complex<lanes> at(const float* re, const float* im, int row) {
  return {load<lanes>(re + row * kRow), load<lanes>(im + row * kRow)};
}

template <int lanes>
TUTTI_INLINE void put(float* re, float* im, int row, const Complex<lanes>& value) {
  store<lanes>(re + row * kRow, value.re);
  store<lanes>(im + row * kRow, value.im);
}

template <int lanes>
TUTTI_INLINE Complex<lanes> conjugate(const Complex<lanes>& a) {
  return {a.re, -a.im};
}

template <int lanes>
TUTTI_INLINE Complex<lanes> halved(const Complex<lanes>& a) {
  return {a.re * 0.5F, a.im * 0.5F};
}

/// The complex transform of `count` points in place; the inputs are in bit-reversed order. turns:
/// exp(-2 pi i k / (2 count)). Two steps of radix 2 at a time, so that memory is read and written half as often.
template <int lanes>
TUTTI_INLINE void transform(float* re, float* im, int count, const Twiddle* turns) {
  int length = 1;
  if (std::countr_zero(static_cast<unsigned>(count)) % 2 == 1) {
    for (int first = 0; first < count; first += 2) {
      const auto a = at<lanes>(re, im, first), b = at<lanes>(re, im, first + 1);
      put<lanes>(re, im, first, a + b);
      put<lanes>(re, im, first + 1, a - b);
    }
    length = 2;
  }
  for (; length < count; length *= 4) {
    const int stride = count / length;
    for (int k = 0; k < length; ++k) {
      const Twiddle turn = turns[k * stride], half = turns[k * stride / 2];
      for (int first = k; first < count; first += 4 * length) {
        const auto a = at<lanes>(re, im, first), b = at<lanes>(re, im, first + length) * turn;
        const auto c = at<lanes>(re, im, first + 2 * length), d = at<lanes>(re, im, first + 3 * length) * turn;
        const auto sum = (c + d) * half, difference = quarter_turn((c - d) * half);
        put<lanes>(re, im, first, (a + b) + sum);
        put<lanes>(re, im, first + length, (a - b) + difference);
        put<lanes>(re, im, first + 2 * length, (a + b) - sum);
        put<lanes>(re, im, first + 3 * length, (a - b) - difference);
      }
    }
  }
}

}  // namespace

/// The arithmetic of some lanes, compiled for one generation of machines.
struct FrameFourierKernels {
  /// A real transform as a complex one of half the length: even samples are its real parts, odd ones its imaginary.
  template <int lanes>
  TUTTI_INLINE static void forward_lanes(const FrameFourier& f, const float* samples, float* re, float* im) {
    for (int i = 0; i < f.half_; ++i) {
      const int from = 2 * static_cast<int>(f.order_[static_cast<std::size_t>(i)]);
      store<lanes>(re + i * kRow, load<lanes>(samples + from * kRow));
      store<lanes>(im + i * kRow, load<lanes>(samples + (from + 1) * kRow));
    }
    transform<lanes>(re, im, f.half_, f.turns_.data());
    const auto zero = at<lanes>(re, im, 0);
    put<lanes>(re, im, 0, {zero.re + zero.im, V<lanes>{}});
    put<lanes>(re, im, f.half_, {zero.re - zero.im, V<lanes>{}});
    for (int k = 1; k <= f.half_ / 2; ++k) {
      const auto a = at<lanes>(re, im, k), b = conjugate(at<lanes>(re, im, f.half_ - k));
      const auto even = halved(a + b), odd = quarter_turn(halved(a - b)) * f.turns_[static_cast<std::size_t>(k)];
      put<lanes>(re, im, k, even + odd);
      put<lanes>(re, im, f.half_ - k, conjugate(even - odd));
    }
  }

  /// The inverse transform is the forward one with real and imaginary parts exchanged.
  template <int lanes>
  TUTTI_INLINE static void inverse_lanes(const FrameFourier& f, const float* re, const float* im, float* work,
                                         float* samples) {
    float* const swapped_re = work;
    float* const swapped_im = work + f.half_ * kRow;
    const V<lanes> first = load<lanes>(re), last = load<lanes>(re + f.half_ * kRow);
    put<lanes>(swapped_re, swapped_im, 0, {(first - last) * 0.5F, (first + last) * 0.5F});
    for (int k = 1; k <= f.half_ / 2; ++k) {
      const auto turn = f.turns_[static_cast<std::size_t>(k)];
      const auto a = at<lanes>(re, im, k), b = conjugate(at<lanes>(re, im, f.half_ - k));
      const auto even = halved(a + b), odd = halved(a - b) * Twiddle{turn.re, -turn.im};
      // even + i odd at k; of their conjugates at half - k
      const auto low = static_cast<int>(f.order_[static_cast<std::size_t>(k)]);
      const auto high = static_cast<int>(f.order_[static_cast<std::size_t>(f.half_ - k)]);
      put<lanes>(swapped_re, swapped_im, low, {even.im + odd.re, even.re - odd.im});
      put<lanes>(swapped_re, swapped_im, high, {odd.re - even.im, even.re + odd.im});
    }
    transform<lanes>(swapped_re, swapped_im, f.half_, f.turns_.data());
    const float scale = 1.0F / static_cast<float>(f.half_);
    for (int i = 0; i < f.half_; ++i) {
      store<lanes>(samples + 2 * i * kRow, load<lanes>(swapped_im + i * kRow) * scale);
      store<lanes>(samples + (2 * i + 1) * kRow, load<lanes>(swapped_re + i * kRow) * scale);
    }
  }

  template <int lanes>
  TUTTI_INLINE static void forward(const FrameFourier& f, const float* samples, float* re, float* im) {
    for (int lane = 0; lane < kRow; lane += lanes) forward_lanes<lanes>(f, samples + lane, re + lane, im + lane);
  }
  template <int lanes>
  TUTTI_INLINE static void inverse(const FrameFourier& f, const float* re, const float* im, float* samples) {
    thread_local std::vector<float> work;
    work.resize(2 * static_cast<std::size_t>(f.half_) * kRow);
    for (int lane = 0; lane < kRow; lane += lanes)
      inverse_lanes<lanes>(f, re + lane, im + lane, work.data() + lane, samples + lane);
  }

  [[TUTTI_AVX512]] static void forward_avx512(const FrameFourier& f, const float* samples, float* re, float* im) {
    forward<16>(f, samples, re, im);
  }
  [[TUTTI_AVX512]] static void inverse_avx512(const FrameFourier& f, const float* re, const float* im, float* samples) {
    inverse<16>(f, re, im, samples);
  }
  [[TUTTI_AVX2]] static void forward_avx2(const FrameFourier& f, const float* samples, float* re, float* im) {
    forward<8>(f, samples, re, im);
  }
  [[TUTTI_AVX2]] static void inverse_avx2(const FrameFourier& f, const float* re, const float* im, float* samples) {
    inverse<8>(f, re, im, samples);
  }
  static void forward_any(const FrameFourier& f, const float* samples, float* re, float* im) {
    forward<4>(f, samples, re, im);
  }
  static void inverse_any(const FrameFourier& f, const float* re, const float* im, float* samples) {
    inverse<4>(f, re, im, samples);
  }
};

FrameFourier::FrameFourier(int size) : half_(size / 2), forward_(nullptr), inverse_(nullptr) {
  if (size < 4 || !std::has_single_bit(static_cast<unsigned>(size)))
    throw std::invalid_argument("a Fourier transform's size is a power of two");
  const int bits = std::countr_zero(static_cast<unsigned>(half_));
  for (unsigned i = 0; std::cmp_less(i, half_); ++i) {
    std::uint32_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= ((i >> bit) & 1U) << (bits - 1 - bit);
    order_.push_back(reversed);
  }
  for (int k = 0; k <= half_; ++k) turns_.push_back(turn_by(static_cast<double>(k) / size));
  using Kernels = FrameFourierKernels;
  forward_ = runs_avx512() ? Kernels::forward_avx512 : runs_avx2() ? Kernels::forward_avx2 : Kernels::forward_any;
  inverse_ = runs_avx512() ? Kernels::inverse_avx512 : runs_avx2() ? Kernels::inverse_avx2 : Kernels::inverse_any;
}

}  // namespace tutti
