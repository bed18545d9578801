#include "transcribe/speech_plan.h"

#include <algorithm>
#include <cmath>

#include "audio/log_mel.h"
#include "base/units.h"
#include "transcript/clips.h"

namespace tutti {
std::int64_t SpeechChunk::first_frame() const {
  return pieces.front().start / kHopSamples;
}

std::int64_t SpeechChunk::frames() const {
  return samples / kHopSamples;
}

Result<std::vector<SpeechPiece>> within_clips(std::span<const SpeechPiece> pieces, std::span<const double> clip_points,
                                              std::int64_t samples) {
  // Rounded up, so that clips without an end take the last samples along.
  const auto clips = clips_from(clip_points, (samples + kHopSamples - 1) / kHopSamples);
  if (!clips) return tl::unexpected(clips.error());
  std::vector<SpeechPiece> within;
  for (const Clip& clip : *clips) {
    const std::int64_t from = clip.start * kHopSamples, to = clip.end * kHopSamples;
    for (SpeechPiece piece : pieces) {
      piece.forced_cut = piece.forced_cut && piece.end <= to;
      piece.start = std::max(piece.start, from);
      piece.end = std::min(piece.end, to);
      if (piece.start < piece.end) within.push_back(piece);
    }
  }
  return within;
}

std::vector<SpeechChunk> chunks_of(std::span<const SpeechPiece> pieces, std::int64_t frames_per_window) {
  std::vector<SpeechChunk> chunks;
  for (PackedPieces& packed : pack_windows(pieces, frames_per_window * kHopSamples)) {
    const std::int64_t samples = samples_of(packed);
    if (samples >= kHopSamples) chunks.push_back({std::move(packed), samples});
  }
  return chunks;
}

void end_with_sound(std::vector<Segment>& segments, Seconds sound) {
  for (Segment& segment : segments) {
    segment.end = std::min(segment.end, sound.count());
    segment.start = std::min(segment.start, segment.end);
  }
}

void restore_times(std::vector<Segment>& segments, const SpeechMap& map) {
  for (Segment& segment : segments) {
    segment.seek = std::llround(map.start(Seconds(static_cast<double>(segment.seek) / kFramesPerSecond)).count() *
                                kFramesPerSecond);
    segment.start = map.start(Seconds(segment.start)).count();
    // An empty segment at the border of two pieces would end before it starts.
    segment.end = std::max(segment.start, map.end(Seconds(segment.end)).count());
    for (Word& word : segment.words) {
      const auto span = map.word(Seconds(word.start), Seconds(word.end));
      word.start = span.start.count();
      word.end = span.end.count();
    }
    if (segment.words.empty()) continue;
    segment.start = segment.words.front().start;
    segment.end = segment.words.back().end;
  }
}

}  // namespace tutti
