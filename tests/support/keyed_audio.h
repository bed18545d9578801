#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "audio/synth/band.h"
#include "audio/synth/disturbance.h"
#include "audio/synth/morse_code.h"

namespace tutti {

/// A text as it is keyed, from `start` on, with as much behind it.
struct KeyedAudio {
  KeyedText text;
  double start = 1;                 // seconds
  std::vector<std::int16_t> pcm{};  // 16 kHz

  /// Adds another station, as loud as that, which keys from the start on.
  void add(const KeyedText& other, double hertz, double level) {
    std::vector<float> tone(pcm.size());
    add_tone(tone, {.downs = other.downs, .hertz = hertz});
    for (std::size_t i = 0; i < pcm.size(); ++i)
      pcm[i] = static_cast<std::int16_t>(
          std::clamp(static_cast<double>(pcm[i]) + level * 6000 * static_cast<double>(tone[i]), -32767.0, 32767.0));
  }
};

inline KeyedText keyed_text(const std::string& text, const Hand& hand) {
  CounterRandom random(7);
  return key_text(text, hand, random);
}

/// The tone is `snr` dB over the noise in 500 Hz.
inline KeyedAudio keyed_audio(const std::string& text, const Hand& hand, double snr, double hertz = 640,
                              double start = 1) {
  constexpr double kRate = 16000, kScale = 6000;
  KeyedAudio made{.text = keyed_text(text, hand), .start = start};
  std::vector<float> audio(static_cast<std::size_t>((made.text.length() + 2 * start) * kRate));
  add_tone(audio, {.downs = made.text.downs, .start = start, .hertz = hertz});
  add_noise(audio, std::sqrt(kToneAmplitude * kToneAmplitude / 2 / std::pow(10, snr / 10) * (kRate / 2) / 500), 3);
  for (const float sample : audio)
    made.pcm.push_back(static_cast<std::int16_t>(std::clamp(static_cast<double>(sample) * kScale, -32767.0, 32767.0)));
  return made;
}

}  // namespace tutti
