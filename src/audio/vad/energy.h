#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Loudness of one window in decibels over the least bit, its mean left out: silence is 0, full scale 90.
float loudness(std::span<const std::int16_t> window);

/// How much louder than its background each window is, as a probability: 0.5 at 9 dB over, 0.95 at 18. The background
/// is the quietest window within 10 s to either side, but no lower than -60 dB of full scale. Any loud sound is speech
/// to it.
std::vector<float> probabilities_of_loudness(std::span<const float> levels);

}  // namespace tutti
