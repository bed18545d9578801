#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/vad/packing.h"
#include "audio/vad/speech.h"
#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// Silence that ends a piece where windows are independent: faster-whisper's BatchedInferencePipeline.
inline constexpr std::int32_t kBatchedSilenceMs = 160;

/// Which parts of a file are heard, and in which order.
struct TranscriptionMode {
  std::optional<VadOptions> vad{};  // only speech is heard; none: everything
  std::vector<double> clips{0};     // with VAD only speech within these is heard: start, end, ... in seconds
  bool batched = false;             // needs VAD: independent chunks of speech, instead of the reference's loop
};

/// A stretch of speech that is transcribed by itself: pieces in a row, together no longer than a window.
struct SpeechChunk {
  PackedPieces pieces{};
  std::int64_t samples = 0;  // of all pieces together

  Seconds length() const { return length_of(samples, kModelRate); }
  std::int64_t first_frame() const;  // of the recording
  std::int64_t frames() const;       // whole mel frames
};

/// The clips without the long gaps of a recording, in which there is no sound: nothing is transcribed there, and what
/// comes behind a gap begins behind it. `clip_points` as they are where there is none.
std::vector<double> clips_with_sound(std::span<const double> clip_points, std::span<const SampleRange> gaps,
                                     std::int64_t samples);

/// What of `pieces` lies within the clips: start, end, start, end, ... in seconds, none before the one in front of it,
/// a missing last end being the recording's. Errors as clips_from().
Result<std::vector<SpeechPiece>> within_clips(std::span<const SpeechPiece> pieces, std::span<const double> clip_points,
                                              std::int64_t samples);

/// The chunks of a recording, in order; what is shorter than a frame is left out. No chunk crosses a gap of a second or
/// more, so that its text stands on the side of the gap where its speech is.
std::vector<SpeechChunk> chunks_of(std::span<const SpeechPiece> pieces, std::int64_t frames_per_window,
                                   std::span<const SampleRange> gaps = {});

/// Ends what a text claims to last longer than the sound it was heard in where that ends: behind it other chunks speak.
void end_with_sound(std::vector<Segment>& segments, Seconds sound);

/// Turns the times of segments and words from packed speech to the recording they were packed from.
void restore_times(std::vector<Segment>& segments, const SpeechMap& map);

}  // namespace tutti
