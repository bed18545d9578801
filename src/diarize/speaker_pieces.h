#pragma once

#include <cstdint>
#include <vector>

#include "diarize/speech_activity.h"

namespace tutti {

/// Frames a second of the features that voices are compared by.
inline constexpr std::int64_t kVoiceFramesPerSecond = 100;

/// Stretches of speech that are short enough to be one speaker's.
struct PieceOptions {
  std::int64_t length = 150;  // frames of features
  std::int64_t shift = 150;   // from one piece to the next in a region
  std::int64_t least = 30;    // frames of one voice that a piece must have
};

/// A piece of a region: some frames of features, those with two voices left out.
struct SpeakerPiece {
  std::int64_t start = 0;  // frames of features: [start, end)
  std::int64_t end = 0;
  std::size_t region = 0;
  std::vector<std::int64_t> frames{};  // those with one voice

  double seconds() const { return static_cast<double>(frames.size()) / kVoiceFramesPerSecond; }  // of one voice
};

/// The pieces of all regions, in order. `frames`: of features that the recording has. Where no region has a piece of
/// `least` frames, the longest one there is.
std::vector<SpeakerPiece> speaker_pieces(const SpeechActivity& activity, const std::vector<FrameRange>& regions,
                                         std::int64_t frames, const PieceOptions& options);

}  // namespace tutti
