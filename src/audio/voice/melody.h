#pragma once

#include <span>
#include <vector>

#include "base/units.h"

// The melody of speech: its pitch, frame by frame, made wider or narrower, and given back to the samples.
// All functions are pure.

namespace tutti {

/// What a range may be: less is as good as monotone speech, and more is rough.
inline constexpr double kLeastPitchRange = 0.1, kMostPitchRange = 4;

/// How a pitch is changed.
struct MelodyOptions {
  double range = 1;         ///< semitones from the median are multiplied by it: 2 is twice as lively, 0 is monotone
  double rise = 0;          ///< semitones that the end rises by, as that of a question does
  Seconds rise_over{0.45};  ///< from there on to the last voiced frame
};

/// The pitch that frames should have, [frames] in Hz: at most 7 semitones from the median, before the rise. Frames
/// without a pitch (0) have none. Frames more than 9 semitones off, which are mistakes of a search, are left as they
/// are. `frame`: the time from one to the next.
std::vector<float> wanted_pitch(std::span<const float> pitch, Seconds frame, const MelodyOptions& options);

/// Samples with another pitch and the same length: periods are cut out around marks, two periods each, and put down at
/// the distance that the wanted pitch has (TD-PSOLA; Moulines and Charpentier 1990). What has no pitch stays as it is.
/// `pitch` and `wanted`: of frames of `hop` samples, in Hz, 0 for none. Vowels keep their sound within some semitones;
/// beyond an octave they are rough.
std::vector<float> with_pitch(std::span<const float> samples, std::span<const float> pitch,
                              std::span<const float> wanted, Hertz rate, int hop);

/// The same of a clip whose pitch is not known: found, changed, and given back. Clips without a pitch stay as they are,
/// and so does everything where nothing is requested.
std::vector<float> with_melody(std::vector<float> samples, Hertz rate, const MelodyOptions& options);

}  // namespace tutti
