#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcript/long_form.h"

namespace tutti {

/// The scores by which the reference accepts one decoding of a window. Any of them may be NaN, which fails no test.
struct WindowScores {
  double compression_ratio = 0;  // zlib ratio of the stripped text
  double avg_logprob = 0;
  double no_speech_prob = 0;
};

/// `first`, then steps of `increment` up to 1, to the bit as the reference's command line makes them (numpy.arange, so
/// the fourth of 0, 0.2, ... is 0.6000000000000001); only `first` without an increment, or where it is above 1.
Result<std::vector<double>> fallback_temperatures(double first, std::optional<double> increment);

/// Decode the window again at the next temperature? Repetitive or improbable text is a reason; improbable text over
/// probable silence is none, because the window will be skipped.
bool needs_fallback(const WindowScores& scores, const LongFormOptions& options);

/// Is there no speech in the window, whatever the text claims? A confident text beats the no-speech probability.
bool is_silence(const WindowScores& scores, const LongFormOptions& options);

/// Bytes of `utf8` over bytes of its zlib compression at the default level (openai-whisper's utils.py). Loops compress
/// well: above 2.4 the reference does not believe a text. 0 for an empty text.
double compression_ratio(std::string_view utf8);

}  // namespace tutti
