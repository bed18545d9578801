#pragma once

#include <span>
#include <vector>

#include "base/units.h"

// What vocal folds give to a voice, without what throat and mouth make of it. A vocoder that gets it need not find
// phases: they follow from where the pulses are.

namespace tutti {

/// How the pulses of frames lie in samples.
struct PulseOptions {
  Hertz rate{22050};
  int hop = 256;     ///< samples from one frame to the next
  double phase = 0;  ///< turns, 0 to 1, that the first period begins at
};

/// Pulses that follow a pitch, all harmonics equally strong.
///
/// Harmonics end 1 % below half the rate, since what is above would fold back. Their number changes with the pitch, and
/// their strength with it: the mean square does not.
///
/// `pitch`: of each frame in Hz, 0 where it has none; frame f is centred in its hop. Between frames pitch and strength
/// change evenly: a step in either would be a click at every frame. Pulses so fade in and out over a hop.
///
/// [frames * hop] samples whose mean square is 1 where there is a pitch, as that of the noise that is filtered beside
/// them. Pure.
std::vector<float> pulses_of(std::span<const float> pitch, const PulseOptions& options);

}  // namespace tutti
