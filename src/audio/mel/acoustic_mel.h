#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel/mel_kernel.h"
#include "audio/mel/real_fft.h"
#include "base/units.h"

namespace tutti {

/// What a spectrogram for classifying sound is made by.
struct AcousticMelOptions {
  Hertz rate{4096};
  int n_fft = 512;    ///< a power of two; the window is as long
  int hop = 128;      ///< samples from one frame to the next
  int n_mels = 64;    ///< on the HTK scale from 0 to half the rate
  double power = 1;   ///< exponent of the magnitude: 1 or 2
  double top_db = 0;  ///< decibels below the loudest value of the audio that are kept; 0: all
};

/// Mel spectrograms in decibels as torchaudio's MelSpectrogram makes them (periodic Hann, center=False, HTK filters
/// without norm): 20 log10(max(mel, 1e-10)); 10 log10 for power 2. Immutable; thread-safe.
class AcousticMel {
 public:
  /// Throws std::invalid_argument for options that cannot be intended.
  explicit AcousticMel(AcousticMelOptions options);

  const AcousticMelOptions& options() const { return options_; }
  /// Whole frames in so many samples: (samples - n_fft) / hop + 1, none below n_fft.
  std::int64_t frames(std::int64_t samples) const;
  /// The spectrogram of `samples`: row-major [n_mels, frames(samples)] float32 to `out`, which holds as many.
  void compute(std::span<const float> samples, std::span<float> out) const;

 private:
  /// Memory of one transform.
  struct Frame {
    std::vector<float> samples;             // [n_fft], windowed
    std::vector<std::complex<float>> work;  // [n_fft / 2]
    std::vector<std::complex<float>> bins;  // [n_fft / 2 + 1]
    std::vector<float> magnitudes;          // likewise
  };
  void magnitudes(const float* samples, Frame& frame) const;

  AcousticMelOptions options_;
  std::vector<float> window_;
  RealFft fft_;
  std::vector<MelFilter> filters_;
};

}  // namespace tutti
