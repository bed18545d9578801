#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "audio/mel/log_mel.h"
#include "link/window_engine.h"
#include "text/tokenizer.h"
#include "transcribe/file_transcription.h"
#include "transcribe/run.h"

namespace tutti {

/// What a recording's options come to with the loaded model.
struct FittedOptions {
  DecodingOptions decoding{};               // with the tokens of the model
  LongFormOptions rules{};                  // made to fit the model: an English one knows no other language
  std::vector<std::string> remarks{};       // what of the options the model does not do as requested; logged already
  std::shared_ptr<const LogMel> log_mel{};  // of the station that was named; null: the model's
};

/// What the control side derives from a loaded model. Shared by all files of a run.
struct ModelContext {
  Tokenizer tokenizer;
  LogMel log_mel;
  FittedOptions fitted{};  // the run's
  std::int64_t frames_per_window = 3000;
  std::int32_t n_text_ctx = 448;
  std::int32_t n_vocab = 0;
  std::optional<OtherEngine> other{};  // which takes PCM, and has no use for tokenizer and mel; none: ours

  /// The options of one recording, as spoken_model checks those of a run. Thread-safe.
  Result<FittedOptions> fit(const SpeechOptions& options) const;

  /// For files whose windows `engine` serves; `rationed` as in WindowService. Borrows all it is given and this.
  TranscriptionContext context(WindowEngine& engine, const SpeechOptions& options, const OnProgressOfFile& on_progress,
                               bool rationed = false) const {
    return context(engine, options, fitted, on_progress, rationed);
  }
  /// The same for a recording with options of its own and what `fit` made of them.
  TranscriptionContext context(WindowEngine& engine, const SpeechOptions& options, const FittedOptions& own,
                               const OnProgressOfFile& on_progress, bool rationed) const;
};

/// The context of the model that a worker has made ready. Errors: options that no file could be transcribed by with
/// this model: a token to suppress that its vocabulary does not have, a language it does not know, a prefix that leaves
/// no positions. `keyed_tone`: takes_keyed_tone of the model.
Result<ModelContext> spoken_model(Tokenizer tokenizer, const Ready& ready, const SpeechOptions& options,
                                  bool keyed_tone = false);

/// The same with the tokenizer of the run's model, read now; the built-in one where the run names no model. Also of the
/// run's own engine. Fault::unsupported: that one takes no PCM; Fault::usage: it does not know the language.
Result<ModelContext> load_model_context(const RunOptions& run, const Ready& ready);

}  // namespace tutti
