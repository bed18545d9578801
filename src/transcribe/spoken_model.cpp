#include "transcribe/spoken_model.h"

#include "base/log.h"

namespace tutti {
namespace {

/// The run's rules made to fit the model's vocabulary.
LongFormOptions fitting(LongFormOptions rules, const SpecialTokens& special) {
  if (special.multilingual && rules.translate && rules.words)
    log(Level::warning, "the words of a translation have no times of their own in the audio; theirs may be far off");
  if (special.multilingual) return rules;
  if (rules.language && *rules.language != "en")
    log(Level::warning, "the model is English-only; '" + *rules.language + "' was asked for, English is used");
  if (rules.translate) log(Level::warning, "the model is English-only and cannot translate; it transcribes");
  rules.language = "en";
  rules.translate = false;
  return rules;
}

}  // namespace

TranscriptionContext SpokenModel::context(WindowEngine& engine, const RunOptions& options,
                                          const OnProgressOfFile& on_progress, bool rationed) const {
  return {.windows = {.engine = engine,
                      .tokenizer = tokenizer,
                      .options = options.decoding,
                      .suppressed = suppressed,
                      .rationed = rationed},
          .log_mel = log_mel,
          .rules = rules,
          .on_progress = on_progress,
          .model = {.frames_per_window = frames_per_window, .n_text_ctx = n_text_ctx},
          .way = {.vad = options.vad, .clips = options.long_form.clip_timestamps, .batched = options.batched}};
}

Result<SpokenModel> spoken_model(Tokenizer tokenizer, const Ready& ready, const RunOptions& options) {
  // Every window would fail of it, one file after the other.
  if (auto known = check_suppressed(options.decoding.suppress_tokens, ready.n_vocab); !known)
    return tl::unexpected(known.error());
  auto suppressed = suppressed_tokens(tokenizer, options.decoding.suppress_tokens);
  LongFormOptions rules = fitting(options.long_form, tokenizer.special());
  if (options.vad) rules.clip_timestamps = LongFormOptions{}.clip_timestamps;  // they cut the speech beforehand
  return SpokenModel{.tokenizer = std::move(tokenizer),
                     .log_mel = LogMel(ready.n_mels),
                     .suppressed = std::move(suppressed),
                     .rules = std::move(rules),
                     .frames_per_window = 2 * ready.n_audio_ctx,
                     .n_text_ctx = ready.n_text_ctx};
}

}  // namespace tutti
