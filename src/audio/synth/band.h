#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/synth/morse_code.h"
#include "audio/synth/radio_path.h"

namespace tutti {

/// Amplitude of a keyed tone that nothing has happened to; full scale is 1.
inline constexpr double kToneAmplitude = 0.25;

/// A keyed tone.
struct Tone {
  std::span<const KeyDown> downs{};
  double start = 0;  ///< seconds, of the first key-down
  double hertz = 700;
  double phase = 0;
  double amplitude = kToneAmplitude;
  double edge = 0.005;  ///< seconds, of the raised cosine at both ends of each mark; 0: keyed hard
  double chirp_hz = 0;  ///< the tone is off by so much where a mark begins, and right 50 ms later
};

/// Adds a keyed tone, its edges inside each mark, to 16 kHz samples. `fades` multiplies the amplitude, a value for each
/// millisecond; empty: none. The frequency moves by `drift_hz` from one end of `audio` to the other.
void add_tone(std::span<float> audio, const Tone& tone, double drift_hz = 0, std::span<const float> fades = {});

/// The audio at a receiver's output at the end of such a path: the signal (none for a clip of noise only), other
/// stations, crashes and noise, through its filter and gain control. Peaks stay below 1.
std::vector<float> received(std::int64_t samples, const Tone& signal, const RadioPath& path, CounterRandom& random);

}  // namespace tutti
