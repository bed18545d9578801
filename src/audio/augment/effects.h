#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/counter_random.h"

namespace tutti {

// Changes of sound, samples at 16 kHz at any scale.

/// `speed` times as fast, so 1 / speed as long; pitch changes with it. Band-limited interpolation: 24 taps of a Hann
/// windowed sinc, whose band ends where the slower of the two rates' does.
std::vector<float> at_speed(std::span<const float> sound, double speed);

/// Echoes with random delays and signs that die away by 60 dB in `seconds`; the sound's power stays.
void add_room(std::span<float> sound, double seconds, CounterRandom& random);

/// White or pink noise, `decibels` below the sound's mean power. Silence stays silent.
void add_noise_at(std::span<float> sound, double decibels, bool is_pink, std::uint64_t key);

/// By `decibels`, or as many as leave the largest sample below full scale of 16 bits.
void change_gain(std::span<float> sound, double decibels);

}  // namespace tutti
