#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Speech frame by frame, as a voice's set has it.
struct SpeechFrames {
  std::span<const float> mel{};    ///< row-major [frames, n_mels], natural logarithms of magnitudes
  std::span<const float> pitch{};  ///< [frames] in Hz; 0: not voiced
  int n_mels = 80;

  std::int64_t frames() const { return static_cast<std::int64_t>(pitch.size()); }
};

/// How far speech is from a recording of the same text.
struct SpeechDistance {
  double cepstral = 0;       ///< mel cepstral distance, dB
  double pitch_cents = 0;    ///< root mean square over frames voiced in both, without gross errors; 0: there are none
  double gross_share = 0;    ///< gross pitch errors: more than 20 % off, of the frames voiced in both
  double voicing_share = 0;  ///< of frames that are voiced in one alone
};

/// Aligns both by dynamic time warping over their cepstra, and compares frame with frame along the path. The mel
/// cepstral distance (Kubichek 1993) is 10 / ln 10 * sqrt(2 * sum of squared differences) of the 24 cosine coefficients
/// c1 to c24 of the log-mel spectrum, scaled so that ln mel = c0 + sum of cm cos(m w): loudness, c0, is left out. Time
/// and memory grow with the product of both lengths. Throws std::invalid_argument where one has no frame, or where they
/// differ in their mels. Pure.
SpeechDistance speech_distance(const SpeechFrames& one, const SpeechFrames& other);

}  // namespace tutti
