#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

// The fundamental frequency of a voice, frame by frame. It is a feature of a set, next to the spectrogram, and what a
// model may learn to predict.

namespace tutti {

/// Which frames a pitch is looked for in, and where.
struct PitchOptions {
  Hertz rate{22050};
  int hop = 256;         ///< samples from one frame to the next
  double lowest = 60;    ///< Hz
  double highest = 550;  ///< Hz
  /// Root mean square of a frame, below which it has no pitch: what repeats there is hum.
  double least_level = 2e-3;
  /// Normalised difference below which a frame is voiced: 0.1 misses breathy voices, 0.3 takes noise for one.
  double threshold = 0.2;
};

/// The pitch of every frame, [samples / hop], in Hz; 0 of frames without one. YIN (de Cheveigné and Kawahara 2002):
/// the first dip of the cumulative mean normalised difference, refined between samples. Frame i is centred in its hop,
/// as VoiceMel's is. A frame has no pitch where the audio does not repeat itself, and where it is too soft.
/// Within 5 cents on tones, overtones or not. Pure; some hundredths of the audio's length on a core.
std::vector<float> pitch_of(std::span<const float> samples, const PitchOptions& options);

}  // namespace tutti
