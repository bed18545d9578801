#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel/mel_frames.h"
#include "base/units.h"

namespace tutti {

/// What a spectrogram for classifying sound is made by.
struct AcousticMelOptions {
  Hertz rate{4096};
  int n_fft = 512;      ///< a power of two; the window is as long
  int hop = 128;        ///< samples from one frame to the next
  int n_mels = 64;      ///< on the HTK scale from 0 to half the rate
  double power = 1;     ///< exponent of the magnitude: 1 or 2
  double top_db = 0;    ///< decibels below the loudest value of the audio that are kept; 0: all
  bool linear = false;  ///< bands of equal width in Hz in place of mels
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
  /// The spectrograms of consecutive segments of `segment` samples each, what is left at the end not among them:
  /// row-major [segments, n_mels, frames(segment)] float32 to `out`, which holds as many.
  void compute(std::span<const float> samples, std::size_t segment, std::span<float> out) const;

 private:
  AcousticMelOptions options_;
  MelFrames frames_;
};

}  // namespace tutti
