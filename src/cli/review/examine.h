#pragma once

#include <optional>

#include "cli/review/review.h"

namespace tutti {

/// What came of one transcript.
struct Examined {
  std::optional<ReviewRecording> doubtful{};  // none: nothing to listen to
  bool has_vad = false;                         // examined with where speech is
  bool without_speech = false;                // the transcript has no text
};

/// Looks at one transcript. A recording that cannot be decoded only costs its speech and its picture.
Result<Examined> examine(const ReviewInput& input, const ReviewOptions& options);

}  // namespace tutti
