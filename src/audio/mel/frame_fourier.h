#pragma once

#include <cstdint>
#include <vector>

#include "audio/lanes.h"

namespace tutti {

/// The Fourier transform of real frames, sixteen side by side, forward and back. Immutable; thread-safe.
class FrameFourier {
 public:
  static constexpr int kFrames = 16;  ///< that one call transforms: the columns of all arrays

  /// Throws std::invalid_argument unless `size` is a power of two of at least 4.
  explicit FrameFourier(int size);

  int bins() const { return half_ + 1; }
  /// samples: [size, kFrames] -> real and imaginary parts, [bins, kFrames] each.
  void forward(const float* samples, float* re, float* im) const { forward_(*this, samples, re, im); }
  /// The other way round, so that it undoes `forward`. The imaginary parts of the first and the last bin are taken for
  /// zeros.
  void inverse(const float* re, const float* im, float* samples) const { inverse_(*this, re, im, samples); }

 private:
  friend struct FrameFourierKernels;

  int half_;
  std::vector<std::uint32_t> order_;  // order of the half-length complex transform's inputs
  std::vector<Twiddle> turns_;        // exp(-2 pi i k / size), k up to half
  void (*forward_)(const FrameFourier&, const float*, float*, float*);
  void (*inverse_)(const FrameFourier&, const float*, const float*, float*);
};

}  // namespace tutti
