#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random/counter_random.h"

namespace tutti {

// Changes of audio, samples at 16 kHz at any scale.

/// `speed` times as fast, so 1 / speed as long; pitch changes with it. Band-limited interpolation: 24 taps of a Hann
/// windowed sinc, whose band ends where the slower of the two rates' does.
std::vector<float> at_speed(std::span<const float> audio, double speed);

/// How many of `samples` are left then.
inline std::int64_t samples_at_speed(std::int64_t samples, double speed) {
  return static_cast<std::int64_t>(static_cast<double>(samples) / speed);
}

/// Taps and phases of at_speed's filter.
inline constexpr int kSpeedTaps = 24, kSpeedPhases = 256;

/// That filter at kSpeedPhases + 1 positions from one sample to the next, row-major [positions, kSpeedTaps]. The tap of
/// the sample at or before a position is the twelfth.
std::vector<float> speed_taps(double speed);

/// The audio once more, later and softer.
struct Echo {
  std::int64_t delay = 0;  ///< samples
  float gain = 0;
};

/// The echoes of a room: random delays and signs, dying away by 60 dB in `seconds`.
std::vector<Echo> room_echoes(double seconds, CounterRandom& random);

/// The audio with its echoes, at its own power.
void add_echoes(std::span<float> audio, std::span<const Echo> echoes);

/// White or pink noise, `decibels` below the audio's mean power. Silence stays silent.
void add_noise_at(std::span<float> audio, double decibels, bool is_pink, std::uint64_t key);

/// By `decibels`, or as many as leave the largest sample below full scale of 16 bits.
void change_gain(std::span<float> audio, double decibels);

/// A surrogate of the audio by IAAFT (Schreiber and Schmitz 1996): noise with the same values in another order, and
/// nearly the same spectrum. What is stationary, such as a leak, sounds alike; every detail is another. The audio is
/// taken in blocks, each a surrogate of its own, of the largest power of two that a quarter of it holds: so the coarse
/// course of its loudness stays. The same `key` gives the same surrogate. Less than 64 samples stay as they are.
/// Thread-safe; some 40 transforms of the whole audio.
std::vector<float> iaaft_surrogate(std::span<const float> audio, std::uint64_t key);

}  // namespace tutti
