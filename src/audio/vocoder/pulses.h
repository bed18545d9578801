#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

/// How the pulses of frames lie in samples.
struct PulseOptions {
  Hertz rate{22050};
  int hop = 256;     ///< samples from one frame to the next
  double phase = 0;  ///< turns, 0 to 1, that the first period begins at
};

/// The source of a voice that a vocoder filters: pulses that follow a pitch, all harmonics below half the rate equally
/// strong. `pitch`: of each frame in Hz, 0 where it has none; frame f is centred in its hop. Between frames pitch and
/// strength change evenly: a step in either would be a click at every frame, and a pitch that begins at full strength
/// another. Pulses fade in and out over a hop, too.
///
/// [frames * hop] samples whose mean square is 1 where there is a pitch, as that of the noise that is filtered beside
/// them. Pure.
std::vector<float> pulses_of(std::span<const float> pitch, const PulseOptions& options);

}  // namespace tutti
