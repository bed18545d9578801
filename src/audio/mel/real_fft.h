#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// The Fourier transform of real samples, radix 2, as a complex one of half the length: for spectrograms of any power
/// of two (Whisper's, of 400 samples, has its own kernel, mel_kernel.h). Tables of its factors are made once.
/// Immutable; thread-safe with memory of the caller's own.
class RealFft {
 public:
  /// `size`: a power of two, at least 4. Throws std::invalid_argument for another.
  explicit RealFft(int size);

  /// Samples of a transform.
  int size() const { return static_cast<int>(2 * order_.size()); }
  /// X[k] = sum of x[n] exp(-2 pi i k n / size), without any scaling: bins 0 to size / 2 of `samples` ([size]) to
  /// `bins` ([size / 2 + 1]). `work`: [size / 2].
  void forward(std::span<const float> samples, std::span<std::complex<float>> work,
               std::span<std::complex<float>> bins) const;

 private:
  // Tables, made once.
  std::vector<std::complex<float>> turns_;  // exp(-2 pi i k / size), k below size / 2
  std::vector<std::uint32_t> order_;        // order of the half-length transform's inputs
};

}  // namespace tutti
