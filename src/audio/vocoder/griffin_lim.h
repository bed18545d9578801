#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel_kernel.h"
#include "audio/vocoder/frame_fourier.h"

namespace tutti {

/// The spectrogram that sound is made of, and how hard its phases are searched for.
struct GriffinLimOptions {
  int n_fft = 1024;        ///< a power of two
  int window = 1024;       ///< samples of the periodic Hann window, in the middle of n_fft
  int hop = 256;           ///< samples from one frame to the next
  int iterations = 32;     ///< more than about 32 change nothing
  float momentum = 0.99F;  ///< of the fast form; 0: the plain one of 1984
  std::uint64_t seed = 0;  ///< of the phases that the search begins with
};

/// Makes sound of log-mel spectrograms: spectra that have these mels (non-negative, by multiplicative updates
/// of the divergence), with phases by the fast Griffin-Lim algorithm (Perraudin, Balazs, Søndergaard 2013). Needs no
/// training. Immutable; thread-safe.
class GriffinLim {
 public:
  /// `filters`: those that the spectrograms were made with, on magnitudes. Throws std::invalid_argument for options
  /// that cannot be intended.
  GriffinLim(GriffinLimOptions options, std::vector<MelFilter> filters);

  /// log_mel: row-major [frames, filters], natural logarithms -> frames * hop samples; the middle of frame f is at
  /// sample (f + 1/2) * hop.
  std::vector<float> sound_of(std::span<const float> log_mel, std::int64_t frames) const;

  /// Magnitudes that have the mels of one frame: log_mel [filters] -> [n_fft / 2 + 1].
  void magnitudes_of(std::span<const float> log_mel, std::span<float> magnitudes) const;

 private:
  struct Search;
  void sound_from(Search& search) const;
  void spectra_from(Search& search, float momentum) const;

  GriffinLimOptions options_;
  std::vector<MelFilter> filters_;
  std::vector<float> weight_of_bin_;  // the sum of its weights in all filters
  std::vector<float> window_;
  FrameFourier fourier_;
};

}  // namespace tutti
