#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/mel/mel_frames.h"
#include "audio/mel/mel_kernel.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What a voice's spectrograms are made by, in a set, in a model and where a vocoder inverts them.
struct VoiceMelOptions {
  Hertz rate{22050};
  int n_fft = 1024;    ///< a power of two
  int window = 1024;   ///< samples of the periodic Hann window, in the middle of n_fft; at most n_fft
  int hop = 256;       ///< samples from one frame to the next; divides no less than half a window
  int n_mels = 80;     ///< Slaney's filters, area-normalised
  double lowest = 0;   ///< Hz, where the first filter begins
  double highest = 0;  ///< Hz, where the last one ends; 0: half the rate

  double top() const { return highest > 0 ? highest : rate.value / 2.0; }
  bool operator==(const VoiceMelOptions&) const = default;
};

/// The usual options at a rate: windows of about 46 ms at 22,050 Hz and above, of 50 ms below.
VoiceMelOptions usual_voice_mel(Hertz rate);

/// Fault::usage names the option that cannot be intended.
Result<void> check(const VoiceMelOptions& options);
/// The same options; throws std::invalid_argument where check() refuses them.
VoiceMelOptions checked(const VoiceMelOptions& options);

/// The filter bank: [n_mels], each with its weights on consecutive bins of n_fft / 2 + 1
/// (librosa.filters.mel(sr=rate, n_fft, n_mels, fmin=lowest, fmax=highest)).
std::vector<MelFilter> voice_mel_filters(const VoiceMelOptions& options);

/// The analysis window, [n_fft]: a periodic Hann window of `window` samples with zeros on both sides.
std::vector<float> voice_window(const VoiceMelOptions& options);

/// Log-mel spectrograms of a voice: ln(max(mel of the magnitude, 1e-5)), without any scaling by clip. Frames are
/// centred as Matcha-TTS and HiFi-GAN have them: the audio is mirrored by (n_fft - hop) / 2 samples at both ends, so
/// that there are exactly samples / hop frames. Immutable; thread-safe.
class VoiceMel {
 public:
  /// What the logarithm's argument is at least.
  static constexpr float kLeast = 1e-5F;

  /// Throws std::invalid_argument for options that check() refuses.
  explicit VoiceMel(VoiceMelOptions options);

  const VoiceMelOptions& options() const { return options_; }
  /// Whole hops in so many samples.
  std::int64_t frames(std::int64_t samples) const { return samples / options_.hop; }
  /// The spectrogram: row-major [frames(samples), n_mels] float32.
  std::vector<float> compute(std::span<const float> samples) const;
  /// The same, and in `energy` every frame's norm of its magnitudes, [frames(samples)].
  std::vector<float> compute(std::span<const float> samples, std::vector<float>& energy) const;

 private:
  std::vector<float> mirrored(std::span<const float> samples) const;

  VoiceMelOptions options_;
  MelFrames frames_;
};

}  // namespace tutti
