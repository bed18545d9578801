#include "audio/mel/real_fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace tutti {

using Complex = std::complex<float>;

RealFft::RealFft(int size) {
  if (size < 4 || !std::has_single_bit(static_cast<unsigned>(size)))
    throw std::invalid_argument("Fourier transform: the size is a power of two, at least 4");
  const auto half = static_cast<std::size_t>(size / 2);
  for (std::size_t i = 0; i < half; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / size;
    turns_.emplace_back(static_cast<float>(std::cos(turn)), static_cast<float>(-std::sin(turn)));
  }
  const int bits = std::countr_zero(half);
  for (std::uint32_t i = 0; i < half; ++i) {
    std::uint32_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= ((i >> bit) & 1U) << (bits - 1 - bit);
    order_.push_back(reversed);
  }
}

void RealFft::forward(std::span<const float> samples, std::span<Complex> work, std::span<Complex> bins) const {
  const std::size_t half = order_.size();
  for (std::size_t i = 0; i < half; ++i) {
    const std::size_t at = 2 * order_[i];
    work[i] = {samples[at], samples[at + 1]};
  }
  for (std::size_t length = 1; length < half; length *= 2) {
    const std::size_t stride = half / length;  // in turns_, which are of the whole length
    for (std::size_t first = 0; first < half; first += 2 * length)
      for (std::size_t k = 0; k < length; ++k) {
        // By parts: g++ keeps temporaries of std::complex in memory.
        const float turn_re = turns_[k * stride].real(), turn_im = turns_[k * stride].imag();
        const float a_re = work[first + k].real(), a_im = work[first + k].imag();
        const float b_re = work[first + k + length].real(), b_im = work[first + k + length].imag();
        const float re = b_re * turn_re - b_im * turn_im, im = b_re * turn_im + b_im * turn_re;
        work[first + k] = {a_re + re, a_im + im};
        work[first + k + length] = {a_re - re, a_im - im};
      }
  }
  for (std::size_t k = 0; k <= half; ++k) {
    const Complex a = work[k % half], b = std::conj(work[(half - k) % half]);
    const Complex even = 0.5F * (a + b), odd = 0.5F * (a - b);
    const Complex turn = k == half ? Complex(-1, 0) : turns_[k];
    // odd / i, turned
    const Complex part{odd.imag() * turn.real() + odd.real() * turn.imag(),
                       odd.imag() * turn.imag() - odd.real() * turn.real()};
    bins[k] = even + part;
  }
}

}  // namespace tutti
