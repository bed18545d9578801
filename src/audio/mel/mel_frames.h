#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel/frame_fourier.h"
#include "audio/mel/mel_kernel.h"

namespace tutti {

/// How a spectrum becomes what mel filters are of: each bin's squared magnitude and `least_square`, or the root of
/// that.
struct MelFrameOptions {
  bool takes_root = true;
  float least_square = 0;
};

/// A periodic Hann window of `window` samples in the middle of `size`, with zeros on both sides: [size].
std::vector<float> hann_window(int window, int size);

/// Mel bands of any frames, sixteen side by side: for spectrograms of any power of two and any filters (Whisper's, of
/// 400 samples, has its own kernel, mel_kernel.h). Immutable; thread-safe.
class MelFrames {
 public:
  static constexpr int kFrames = FrameFourier::kFrames;  ///< that one call computes

  /// What a call computes, and memory for it; of one thread.
  struct Bands {
    std::vector<float> mel{};             ///< [filters, kFrames]
    std::array<float, kFrames> powers{};  ///< sums of the squared magnitudes of all bins
    std::vector<float> samples{}, re{}, im{};
  };

  /// `window`: [n_fft], a power of two of at least 4, else std::invalid_argument.
  MelFrames(std::vector<float> window, std::vector<MelFilter> filters, MelFrameOptions options);

  std::size_t filters() const { return filters_.size(); }
  std::size_t n_fft() const { return window_.size(); }
  /// The bands of at most kFrames frames, each n_fft samples from its first one on; those of no frame are zeros'.
  void compute(std::span<const float* const> frames, Bands& bands) const;

 private:
  std::vector<float> window_;
  std::size_t first_ = 0, last_ = 0;  // samples of the window that are not zero
  std::vector<MelFilter> filters_;
  MelFrameOptions options_;
  FrameFourier fourier_;
};

}  // namespace tutti
