#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel/frame_fourier.h"
#include "audio/mel/mel_kernel.h"
#include "audio/voice/voice_mel.h"

namespace tutti {

/// Makes audio of log-mel spectrograms: spectra that have these mels (non-negative, by multiplicative updates
/// of the divergence), with phases by the fast Griffin-Lim algorithm (Perraudin, Balazs, Søndergaard 2013). Needs no
/// training. Immutable; thread-safe.
class GriffinLim {
 public:
  /// `mel`: how the spectrograms were made. Throws std::invalid_argument for options that check() refuses.
  explicit GriffinLim(VoiceMelOptions mel);

  /// log_mel: row-major [frames, n_mels], natural logarithms -> frames * hop samples; the middle of frame f is at
  /// sample (f + 1/2) * hop.
  std::vector<float> audio_of(std::span<const float> log_mel, std::int64_t frames) const;

  /// Magnitudes that have the mels of one frame: log_mel [n_mels] -> [n_fft / 2 + 1].
  void magnitudes_of(std::span<const float> log_mel, std::span<float> magnitudes) const;

 private:
  struct Search;
  void spread(std::span<const float> mels, std::vector<float>& bins) const;
  Search new_search(std::int64_t frames) const;
  void audio_from(Search& search) const;
  void spectra_from(Search& search, float momentum) const;

  VoiceMelOptions options_;
  std::vector<MelFilter> filters_;
  std::vector<float> weight_of_bin_;  // the sum of its weights in all filters
  std::vector<float> window_;
  FrameFourier fourier_;
};

}  // namespace tutti
