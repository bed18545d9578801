#pragma once

#include "transcript/long_form.h"

namespace tutti {

/// What the reference judges one decoding of a window by. Any of them may be NaN, which fails no test.
struct WindowScores {
  double compression_ratio = 0;  // of the stripped text
  double avg_logprob = 0;
  double no_speech_prob = 0;
};

/// Decode the window again at the next temperature? Repetitive or improbable text is a reason; improbable text over
/// probable silence is none, because the window will be skipped.
bool needs_fallback(const WindowScores& scores, const LongFormOptions& options);

/// Is there nothing said in the window, whatever the text claims? A confident text beats the no-speech probability.
bool is_silence(const WindowScores& scores, const LongFormOptions& options);

}  // namespace tutti
