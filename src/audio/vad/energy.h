#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Loudness of one window in decibels over the least bit, its mean left out: silence is 0, full scale 90.
float loudness(std::span<const std::int16_t> window);

/// Probabilities of windows in a row, and what of the levels before them no later call depends on.
struct LoudnessOdds {
  std::vector<float> probabilities{};
  std::size_t no_longer_needed = 0;  // levels, from the first on: whole seconds
};

/// How much louder than its background each window is, as a probability: 0.5 at 9 dB over, 0.95 at 18. The background
/// is the quietest window within 10 s to either side, but no lower than -60 dB of full scale. Any loud sound is speech
/// to it. Yields those from window `first` on that `levels` decide: without the recording's end (`ended`) not those of
/// its last 10 s. `levels` begin at a second of the recording.
LoudnessOdds probabilities_of_loudness(std::span<const float> levels, std::size_t first, bool ended);

}  // namespace tutti
