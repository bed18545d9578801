#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/recording.h"
#include "audio/sample_reader.h"
#include "audio/vad/vad_options.h"
#include "base/error.h"

namespace tutti {

/// Samples that get one speech probability: 32 ms.
inline constexpr std::int64_t kVadWindow = 512;

/// A stretch of speech: samples [start, end) of the recording.
struct SpeechPiece {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool forced_cut = false;  // speech goes on at `end`: it was too long and had no silence to be cut in
  bool operator==(const SpeechPiece&) const = default;
};

/// Speech probability of every window of kVadWindow samples, samples / kVadWindow + 1 of them, because the last one
/// goes on as silence. One pass over the recording; memory is that of the probabilities (0.45 MB an hour). Of the
/// options, method and target count; `on_audio_decoded` as for decode_recording.
Result<std::vector<float>> speech_probabilities(const SampleReader& recording, const VadOptions& options,
                                                const OnDecoded& on_audio_decoded = {});

/// The speech in a recording of `samples` samples, in order, without overlap. The rules are faster-whisper's
/// get_speech_timestamps; only where a too long piece holds no silence, it is cut in the middle of its least
/// speech-like window among the last 5 s, and marked, where faster-whisper cuts wherever the limit falls.
/// Only options that pass check() keep the longest piece within the limit.
std::vector<SpeechPiece> speech_pieces(std::span<const float> probabilities, std::int64_t samples,
                                       const VadOptions& options);

/// Both steps: the speech of a recording. Thread-safe; several recordings at once take a core each.
Result<std::vector<SpeechPiece>> find_speech(const SampleReader& recording, const VadOptions& options);

}  // namespace tutti
