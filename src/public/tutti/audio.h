#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/vad/vad_options.h"
#include "base/error.h"
#include "base/units.h"
#include "public/tutti/recording.h"

namespace tutti {

// What transcription does to audio before a model reads it. All samples here are mono, at kModelRate, of -1 to 1; as in
// transcription they are taken as 16 bits each. Thread-safe; every call uses one core.

/// The recording decoded, [samples] float32. Blocks; a child process decodes. `go_on` is called now and then: false
/// ends it with Fault::cancelled. Errors name the recording.
Result<std::vector<float>> load_audio(const RecordingInput& recording, const std::function<bool()>& go_on = {});

/// Whisper's log-mel features, row-major [n_mels, frames] float32, of the samples and `padding` zeros behind them:
/// frames is (samples + padding) / 160. Fault::usage: no sample, one that is not a number, padding below 0, no bin.
/// `go_on` as above.
Result<std::vector<float>> log_mel(std::span<const float> samples, int n_mels = 80, std::int64_t padding = 0,
                                   const std::function<bool()>& go_on = {});

/// A stretch of speech: samples [start, end).
struct SpeechSpan {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool operator==(const SpeechSpan&) const = default;
};

/// The speech in the samples, in order, without overlap; none where there is none. Errors as for log_mel, and those of
/// the options. `go_on` as above.
Result<std::vector<SpeechSpan>> speech_spans(std::span<const float> samples, const VadOptions& options = {},
                                             const std::function<bool()>& go_on = {});

/// How a hypothesis is compared with its reference.
enum class TextNormalizer {
  none,     // as they are
  english,  // Whisper's: numbers in digits, American spelling
  basic,    // Whisper's for any language: lower case, no symbols
};

/// Errors of hypotheses against their references, as jiwer counts them.
struct WordErrors {
  double wer = 0;  // errors per word of the references
  double cer = 0;  // per character
  std::int64_t words = 0;
  std::int64_t substitutions = 0;
  std::int64_t insertions = 0;
  std::int64_t deletions = 0;
};

/// Of pairs of texts in UTF-8. Fault::usage: their numbers differ.
Result<WordErrors> word_errors(std::span<const std::string> references, std::span<const std::string> hypotheses,
                               TextNormalizer normalizer = TextNormalizer::none);

}  // namespace tutti
