#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

/// The source of a voice that a vocoder filters: pulses that follow a pitch, all harmonics below half the rate equally
/// strong. `pitch`: of each frame in Hz, 0 where it has none; frame f is centred in its hop of samples. Between frames
/// pitch and strength change evenly, so that pulses fade in and out over a hop. `phase`: turns, 0 to 1, that the first
/// period begins at. [frames * hop] samples whose mean square is 1 where there is a pitch. Pure.
std::vector<float> pulses_of(std::span<const float> pitch, Hertz rate, int hop, double phase);

}  // namespace tutti
