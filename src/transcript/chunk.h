#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "transcript/long_form.h"
#include "transcript/window_transcriber.h"

namespace tutti {

/// The way through a file that knows no order: stretches of speech, each transcribed as the reference would transcribe
/// a recording of its own with condition_on_previous_text off. Every window of a chunk gets the initial prompt and
/// nothing else, so a chunk's text depends on no other chunk and any number of them may be in work at once. Const, so
/// thread-safe where the decoders are; borrows what it is given.
class ChunkTranscriber {
 public:
  /// `language`: a code that the model knows, as `settle_language` gives it. `input.content_frames` is of no interest.
  ChunkTranscriber(const LongFormInput& input, const Tokenizer& tokenizer, const LongFormOptions& options,
                   const std::string& language);

  /// Segments of frames [0, frames), times in seconds from the chunk's start, ids left to the caller. Where a text was
  /// cut off by its window's end, the rest of the chunk is decoded again from there, as in the reference: a chunk may
  /// cost more windows than its length suggests, and loses no speech.
  Result<std::vector<Segment>> transcribe(std::int64_t frames, WindowDecoder& decoder) const;

 private:
  std::int64_t frames_per_window_;
  std::vector<std::int32_t> prompt_;
  WindowTranscriber window_;
};

}  // namespace tutti
