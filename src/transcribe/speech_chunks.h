#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/vad/packing.h"
#include "audio/vad/speech.h"
#include "base/error.h"
#include "transcribe/speech_options.h"
#include "transcript/transcript.h"

namespace tutti {

/// Silence that ends a piece where windows are independent: faster-whisper's BatchedInferencePipeline.
inline constexpr std::int32_t kBatchedSilenceMs = 160;

/// Gaps between words of keying are known by their length beside others: any that was found ends a piece.
inline constexpr std::int32_t kKeyedSilenceMs = 64;

/// The longest window of keying. What is certainly keyed is read the better the more there is of it; a small model gets
/// less at once (transcribe/mel_source.h).
inline constexpr Seconds kKeyedWindow{24};
inline constexpr Seconds kKeyedSilence{4};  // ends a window: what is sent behind it may be of another station
inline constexpr Seconds kKeyedPause{1.5};  // between transmissions: live text is final then

/// What follows for windows of keyed sound, if `options` are of such or the model is: they are short, each is read
/// once, so that no time that the model writes decides what is read again; no text before it leads it, and a text that
/// repeats itself is no reason to try again. Whether a window is silent follows from its no_speech_prob alone, unless
/// another logprob_threshold than the default is set, and 0.1 is enough, unless another no_speech_threshold is.
void fit_keying(SpeechOptions& options, bool is_keyed_model = false);

/// Which parts of a file are transcribed, and in which order.
struct TranscriptionMode {
  std::optional<VadOptions> vad{};  // only speech is transcribed; none: everything
  std::vector<double> clips{0};     // with VAD only speech within these is transcribed: start, end, ... in seconds
  bool keyed = false;               // needs VAD: windows of keyed sound, which is cut where it pauses longest
  bool batched = false;             // needs VAD: independent chunks of speech, instead of the reference's loop
};

/// A stretch of speech that is transcribed by itself: pieces in a row, together no longer than a window.
struct SpeechChunk {
  PackedPieces pieces{};
  std::int64_t samples = 0;  // PCM samples of all pieces together

  Seconds length() const { return length_of(samples, kModelRate); }
  std::int64_t first_frame() const;  // mel frame of the recording where the first piece begins
  std::int64_t frames() const;       // whole mel frames
};

/// The clips without the long gaps of a recording, in which there is no audio: nothing is transcribed there, and what
/// comes behind a gap begins behind it. `clip_points` as they are where there is no gap.
std::vector<double> clips_with_audio(std::span<const double> clip_points, std::span<const SampleRange> gaps,
                                     std::int64_t samples);

/// The part of `pieces` within the clips: start, end, start, end, ... in seconds. None begins before the one in front
/// of it, and a missing last end is the recording's. Errors as clips_from().
Result<std::vector<SpeechPiece>> within_clips(std::span<const SpeechPiece> pieces, std::span<const double> clip_points,
                                              std::int64_t samples);

/// The samples between clips; none where a clip begins in or at the end of the one before.
std::vector<SampleRange> between_clips(std::span<const double> clip_points, std::int64_t samples);

/// The chunks of a recording, in order; what is shorter than a frame is left out. No chunk crosses a gap of a second or
/// more, so that its text is on the side of the gap where its speech is.
std::vector<SpeechChunk> chunks_of(std::span<const SpeechPiece> pieces, std::int64_t frames_per_window,
                                   std::span<const SampleRange> gaps = {});

/// The same for words of keying: chunks end where a transmission does, else in the longest gap of their second half, so
/// that words that belong together stay together. `probabilities` are the whole recording's, below `up` in its gaps.
std::vector<SpeechChunk> keyed_chunks_of(std::span<const SpeechPiece> pieces, std::span<const float> probabilities,
                                         float up, std::int64_t frames_per_window,
                                         std::span<const SampleRange> gaps = {},
                                         std::span<const SampleRange> between_clips = {});

/// Cuts a segment that lasts longer than its audio where that audio ends: behind it other chunks have speech.
void end_with_audio(std::vector<Segment>& segments, Seconds audio);

/// Turns the times of segments and words from packed speech to the recording they were packed from.
void restore_times(std::vector<Segment>& segments, const SpeechMap& map);

}  // namespace tutti
