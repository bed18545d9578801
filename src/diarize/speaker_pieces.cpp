#include "diarize/speaker_pieces.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr float kTwoVoices = 0.5F;
constexpr std::int64_t kLeastOfAll = 10;  // frames that a voice can be found in at all

std::int64_t feature_frame(std::size_t frame) {
  return std::llround(frame_start(frame) * kVoiceFramesPerSecond);
}

/// Of the activity's frames, the one that a frame of features is in the middle of.
std::size_t activity_frame(std::int64_t frame, std::size_t frames) {
  const double middle = (static_cast<double>(frame) + 1.25) / kVoiceFramesPerSecond;
  const double index = (middle - frame_start(0)) / (frame_start(1) - frame_start(0));
  return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(frames - 1)));
}

SpeakerPiece piece_of(const SpeechActivity& activity, std::size_t region, std::int64_t start, std::int64_t end) {
  SpeakerPiece piece{.start = start, .end = end, .region = region};
  for (std::int64_t frame = start; frame < end; ++frame)
    if (activity.two[activity_frame(frame, activity.frames())] <= kTwoVoices) piece.frames.push_back(frame);
  return piece;
}

}  // namespace

std::vector<SpeakerPiece> speaker_pieces(const SpeechActivity& activity, const std::vector<FrameRange>& regions,
                                         std::int64_t frames, const PieceOptions& options) {
  std::vector<SpeakerPiece> pieces;
  SpeakerPiece longest;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t begin = std::min(frames, feature_frame(regions[i].start));
    const std::int64_t end = std::min(frames, feature_frame(regions[i].end));
    for (std::int64_t start = begin; start < end; start += options.shift) {
      // What is left at the end becomes a whole piece with some of the one before.
      const std::int64_t from = std::max(begin, std::min(start, end - options.length));
      auto piece = piece_of(activity, i, from, std::min(end, from + options.length));
      if (piece.frames.size() > longest.frames.size()) longest = piece;
      if (std::ssize(piece.frames) >= options.least) pieces.push_back(std::move(piece));
      if (from + options.length >= end) break;
    }
  }
  if (pieces.empty() && std::ssize(longest.frames) >= kLeastOfAll) pieces.push_back(std::move(longest));
  return pieces;
}

}  // namespace tutti
