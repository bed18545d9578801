#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/error.h"

namespace tutti {

/// What computes how much a window resembles speech.
enum class VadMethod {
  silero,  // Silero VAD 6.2, a small neural network (audio/vad/silero_kernel.h)
  energy,  // loudness over the background (audio/vad/energy.h): for comparison, and where Silero errs
  keying,  // words of a keyed tone (audio/vad/keying.h): Morse
};

/// How speech is separated from the rest: faster-whisper's options, meanings and defaults (1.2.1, vad.py).
struct VadOptions {
  VadMethod method = VadMethod::silero;
  /// Speech begins at a window at least this probable ...
  double threshold = 0.5;
  /// ... and may end below this. None: threshold - 0.15, but at least 0.01.
  std::optional<double> neg_threshold{};
  /// Pieces at most this long are dropped.
  std::int32_t min_speech_duration_ms = 0;
  /// Longer pieces are cut, their padding included.
  double max_speech_duration_s = std::numeric_limits<double>::infinity();
  /// Shorter silence does not end a piece.
  std::int32_t min_silence_duration_ms = 2000;
  /// Kept before and after each piece, or half the silence between two.
  std::int32_t speech_pad_ms = 400;
  /// Of keying: the pitch in Hz of the station that is to be read; none: the loudest.
  std::optional<double> target_hz{};
};

/// Pitches that a station may be named by, in Hz: those that are searched for one.
inline constexpr double kLowestTarget = 250, kHighestTarget = 1400;

/// An error that names the option, what was expected and what was found.
Result<void> check(const VadOptions& options);

}  // namespace tutti
