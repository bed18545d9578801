#pragma once

#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/clock.h"
#include "link/window_engine.h"
#include "transcribe/events.h"
#include "transcribe/remote_windows.h"
#include "transcript/long_form.h"

namespace tutti {

/// A file between decoding and transcription.
struct DecodedFile {
  std::size_t index = 0;  // in the order of the command line
  std::filesystem::path input{};
  Clock::Instant started{};  // of its decoding
  Seconds decoding{};
  Recording recording;
};

/// A file between transcription and its outputs.
struct TranscribedFile {
  FileOutcome outcome{};
  Clock::Instant started{};
  Transcript transcript{};
};

/// What every file of a run shares; borrowed. All members are thread-safe.
struct TranscriptionContext {
  WindowEngine& engine;
  const Tokenizer& tokenizer;
  const LogMel& log_mel;
  const LongFormOptions& rules;
  const DecodingOptions& decoding;
  std::int64_t frames_per_window = 3000;
  std::int32_t n_text_ctx = 448;
};

/// Called after each window with the position reached and the window's segments.
using OnPosition = std::function<void(Seconds position, const std::vector<Segment>& fresh)>;

/// The reference's sequential loop over one file. Blocks; many files may run at once.
Result<TranscribedFile> transcribe_file(DecodedFile&& file, const TranscriptionContext& context,
                                        const OnPosition& on_position);

}  // namespace tutti
