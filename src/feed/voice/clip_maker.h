#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "audio/mono_audio.h"
#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "base/units.h"
#include "feed/voice/voice_writer.h"

namespace tutti {

/// How the audio of a clip is prepared before features are made of it.
struct ClipAudioOptions {
  /// Below the loudest part: what is softer at both ends is cut off. In recordings at 8 kHz, s and f lie up to 38 dB
  /// below the vowels; where they are lost, a voice learns pauses in their stead.
  double trim_decibels = 40;
  Seconds edge{0.1};          ///< length of silence that is kept at a text's edges
  double level = 0;           ///< root mean square that clips are brought to; 0: they stay as they are
  double noise = 5e-4;        ///< standard deviation of white noise over everything
  std::uint64_t seed = 1234;  ///< seed of the noise
};

/// A clip's text may not be longer or shorter than that, or its audio cannot be that of the text.
struct ClipLimits {
  double most_characters = 22;    ///< a second of the file
  double least_characters = 2.5;  ///< a second of sounding speech, of clips of two seconds and more
  double most_clipped = 1e-3;     ///< share of samples at full scale
  std::int64_t most_symbols = 200;
  Seconds longest{20};
};

/// Fault::corrupt with what is wrong with a clip whose file has `audio`, as it was recorded, and that text.
Result<void> check_clip(const MonoAudio& audio, std::string_view text, const ClipLimits& limits, double trim_decibels);

/// Makes what a set keeps of audio. Immutable; thread-safe.
class ClipMaker {
 public:
  /// Throws std::invalid_argument as VoiceMel.
  ClipMaker(const VoiceMelOptions& mel, ClipAudioOptions audio) : mel_(mel), audio_(audio) {}

  const VoiceMel& mel() const { return mel_; }
  /// Cuts off the silence at both ends, all but the edges, and brings the rest to its level. `samples`: at the rate of
  /// the spectrograms.
  std::vector<float> trimmed(std::span<const float> samples, Seconds edge) const;
  std::vector<float> trimmed(std::span<const float> samples) const { return trimmed(samples, audio_.edge); }
  /// Spectrogram, pitch and energy of audio that is trimmed, with its background noise, and that audio; `name` keys
  /// the noise.
  NewVoiceClip features(std::vector<float> samples, std::string_view name) const;

 private:
  VoiceMel mel_;
  ClipAudioOptions audio_;
};

}  // namespace tutti
