#pragma once

#include <cstdint>
#include <vector>

#include "audio/log_mel.h"
#include "link/window_engine.h"
#include "text/tokenizer.h"
#include "transcribe/file_transcription.h"
#include "transcribe/run.h"

namespace tutti {

/// What the control side derives from a loaded model. Shared by all files of a run.
struct ModelContext {
  Tokenizer tokenizer;
  LogMel log_mel;
  std::vector<std::int32_t> suppressed{};  // ids never sampled, by the run's options
  LongFormOptions rules{};                 // the run's, made to fit the model: an English one knows no other language
  std::int64_t frames_per_window = 3000;
  std::int32_t n_text_ctx = 448;

  /// For files whose windows `engine` serves; `rationed` as in WindowService. Borrows all it is given and this.
  TranscriptionContext context(WindowEngine& engine, const RunOptions& options, const OnProgressOfFile& on_progress,
                               bool rationed = false) const;
};

/// The context of the model that a worker has made ready. Errors: options that no file could be transcribed by with
/// this model: a token to suppress that its vocabulary does not have, a language it does not know, a prefix that leaves
/// no positions.
Result<ModelContext> spoken_model(Tokenizer tokenizer, const Ready& ready, const RunOptions& options);

}  // namespace tutti
