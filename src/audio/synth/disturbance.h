#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random/counter_random.h"

namespace tutti {

/// Second-order sections in a row, over 16 kHz samples.
class Filter {
 public:
  /// What a receiver for speech lets through: 300 to 3000 Hz, 12 dB an octave outside.
  static Filter speech_band();
  /// A band of `width` Hz about `centre`, 12 dB an octave outside.
  static Filter about(double centre, double width);
  /// From `low` to `high` Hz, 12 dB an octave outside; `low` 0: everything below `high`.
  static Filter between(double low, double high);

  void run(std::span<float> audio);

 private:
  struct Section {
    float b0 = 1, b1 = 0, b2 = 0, a1 = 0, a2 = 0;
    float s1 = 0, s2 = 0;  // state
  };
  static Section low_pass(double hertz);
  static Section high_pass(double hertz);

  Section first_{}, second_{};
};

/// Adds white noise, near Gaussian and exactly so once filtered. Deterministic on every machine.
void add_noise(std::span<float> audio, double deviation, std::uint64_t key);

/// Adds bursts of noise that die away within 20 to 150 ms, so many a second on average, up to 20 dB over `deviation`.
void add_crashes(std::span<float> audio, double per_second, double deviation, CounterRandom& random);

/// Adds single impulses, so many a second on average, up to 20 dB over `deviation`.
void add_clicks(std::span<float> audio, double per_second, double deviation, CounterRandom& random);

/// Automatic gain control: the envelope is brought to `target`, by a factor of at most 30. Times in seconds.
void control_gain(std::span<float> audio, double target, double attack, double decay);

}  // namespace tutti
