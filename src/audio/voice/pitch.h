#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

struct PitchOptions {
  Hertz rate{22050};
  int hop = 256;           ///< samples from one frame to the next
  double lowest = 60;      ///< Hz
  double highest = 550;    ///< Hz
  double threshold = 0.2;  ///< of the normalised difference, below which a frame is voiced
};

/// The pitch of every frame, [samples / hop], in Hz; 0 of frames without one. YIN (de Cheveigné and Kawahara 2002):
/// the first dip of the cumulative mean normalised difference, refined between samples. Frame i is centred in its hop,
/// as VoiceMel's is. Pure; some hundredths of the sound's length on a core.
std::vector<float> pitch_of(std::span<const float> samples, const PitchOptions& options);

}  // namespace tutti
