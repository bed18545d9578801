#include "transcribe/model_context.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "hub/model_shape.h"
#include "text/utf8.h"
#include "transcript/prompt.h"
#include "transcript/prompt_frame.h"

namespace tutti {
namespace {

// Of a context whose engine takes PCM: it computes with neither.
constexpr std::int32_t kAnyVocabulary = 51865;
constexpr std::int32_t kAnyMels = 80;

/// The run's rules made to fit the model's vocabulary. What that changes goes to `remarks`.
LongFormOptions fitting(LongFormOptions rules, const SpecialTokens& special, std::vector<std::string>& remarks) {
  if (special.multilingual && rules.translate && rules.words)
    remarks.emplace_back("the words of a translation have no times of their own in the audio; theirs may be far off");
  if (special.multilingual) return rules;
  if (rules.language && *rules.language != "en")
    remarks.push_back("the model is English-only; '" + *rules.language + "' was requested, English is used");
  if (rules.translate) remarks.emplace_back("the model is English-only and cannot translate; it transcribes");
  rules.language = "en";
  rules.translate = false;
  return rules;
}

/// The part of a text behind the tokens that are taken, or before them; of a long one its beginning.
std::string cut_text(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens, std::size_t taken,
                     bool taken_first) {
  constexpr std::size_t kLongest = 300;  // characters
  const auto cut = taken_first ? tokens.subspan(taken) : tokens.first(tokens.size() - taken);
  const std::u32string text = to_code_points(tokenizer.decode(cut));
  const std::string shown = without_controls(to_utf8(std::u32string_view(text).substr(0, kLongest)));
  return std::string(trimmed(shown)) + (text.size() > kLongest ? " …" : "");
}

/// Prompts are cut to the model's text context, as by the reference: not without a word.
void remark_cut_prompts(const ModelContext& model, const LongFormOptions& rules, std::vector<std::string>& remarks) {
  const auto most = static_cast<std::size_t>(std::max(0, model.n_text_ctx / 2 - 1));
  const auto check = [&](const char* what, const std::string& text, bool taken_first, const char* hint) {
    const auto tokens = initial_prompt_tokens(model.tokenizer, text);
    if (tokens.size() > most)
      remarks.push_back(std::string(what) + " " + std::to_string(tokens.size()) + " tokens; the model takes the " +
                        (taken_first ? "first " : "last ") + std::to_string(most) + " of them. " + hint + ". Cut: '" +
                        cut_text(model.tokenizer, tokens, most, taken_first) + "'");
  };
  check("the initial prompt has", rules.initial_prompt, false, "Shorten it, or put last what matters most");
  if (rules.prefix.empty())
    check("the hot words have", rules.hot_words, true, "Shorten them, or put first what matters most");
}

/// What every window of every file would fail of, one after the other.
Result<void> check_request(const Tokenizer& tokenizer, const LongFormOptions& rules,
                           const std::vector<std::int32_t>& named, const ModelContext& model) {
  if (auto known = check_suppressed(named, model.n_vocab); !known) return known;
  const SpecialTokens& special = tokenizer.special();
  if (special.multilingual && rules.language && !special.language_token(*rules.language))
    return fail(Fault::usage, field("language") + ": the model does not know '" + *rules.language + "'",
                "Name another, or None to have it detected");
  // A prompt is as long in any language.
  const auto& codes = special.language_codes;
  const std::string language = rules.language.value_or(codes.empty() ? "en" : codes.front());
  if (special.multilingual && !special.language_token(language)) return {};
  const auto request = PromptFrame(tokenizer, rules, language, model.n_text_ctx).request_after({});
  return request.map([](const auto&) {});
}

}  // namespace

Result<FittedOptions> ModelContext::fit(const SpeechOptions& options) const {
  FittedOptions own;
  if (other) {
    own.rules = options.long_form;
    return own;
  }
  own.rules = fitting(options.long_form, tokenizer.special(), own.remarks);
  remark_cut_prompts(*this, own.rules, own.remarks);
  for (const std::string& remark : own.remarks) log(Level::warning, remark);
  TRY(check_request(tokenizer, own.rules, options.decoding.suppress_tokens, *this));
  own.decoding = options.decoding;
  own.decoding.suppress_tokens = suppressed_tokens(tokenizer, options.decoding.suppress_tokens);
  if (options.vad) own.rules.clip_timestamps = LongFormOptions{}.clip_timestamps;  // they cut the speech beforehand
  if (own.rules.words) own.rules.words->reads_windows_once = options.keyed;
  if (options.vad && options.vad->target_hz && log_mel.takes_keyed_tone())
    own.log_mel = std::make_shared<const LogMel>(log_mel.n_mels(), true, options.vad->target_hz);
  return own;
}

TranscriptionContext ModelContext::context(WindowEngine& engine, const SpeechOptions& options, const FittedOptions& own,
                                           const OnProgressOfFile& on_progress, bool rationed) const {
  return {.windows = {.engine = engine,
                      .tokenizer = tokenizer,
                      .decoding = own.decoding,
                      .rationed = rationed,
                      .keyed_tone = log_mel.takes_keyed_tone()},
          .log_mel = own.log_mel ? *own.log_mel : log_mel,
          .rules = own.rules,
          .on_progress = on_progress,
          .other = other ? &*other : nullptr,
          .model = {.frames_per_window = frames_per_window, .n_text_ctx = n_text_ctx},
          .way = {.vad = options.vad,
                  .clips = options.long_form.clip_timestamps,
                  .keyed = options.keyed,
                  .batched = options.batched}};
}

Result<ModelContext> spoken_model(Tokenizer tokenizer, const Ready& ready, const SpeechOptions& options,
                                  bool keyed_tone) {
  ModelContext model{.tokenizer = std::move(tokenizer),
                     .log_mel = LogMel(ready.n_mels, keyed_tone),
                     .frames_per_window = 2 * ready.n_audio_ctx,
                     .n_text_ctx = ready.n_text_ctx,
                     .n_vocab = ready.n_vocab};
  model.fitted = TRY(model.fit(options));
  return model;
}

namespace {

/// What an engine of others has made ready.
Result<ModelContext> other_context(const OtherEngine& engine, const Ready& ready, const SpeechOptions& options) {
  constexpr std::int32_t kShortest = 50;  // 1 s
  if (ready.n_mels != 0 || ready.n_audio_ctx < kShortest)
    return fail(Fault::unsupported,
                engine.name + " takes windows of " + std::to_string(ready.n_audio_ctx) + " positions with " +
                    std::to_string(ready.n_mels) + " mel bins, expected " + std::to_string(kShortest) +
                    " or more of PCM, which has 0",
                "docs/engines.md describes Ready");
  const auto known = split(ready.languages, ',');
  const auto& language = options.long_form.language;
  if (language && !known.empty() && std::ranges::find(known, *language) == known.end())
    return fail(Fault::usage, field("language") + ": " + engine.name + " does not know '" + *language + "'",
                "Its model knows " + ready.languages);
  auto tokenizer = TRY(Tokenizer::built_in(kAnyVocabulary));
  ModelContext model{.tokenizer = std::move(tokenizer),
                     .log_mel = LogMel(kAnyMels),
                     .frames_per_window = 2 * std::int64_t{ready.n_audio_ctx},
                     .other = engine};
  model.fitted = TRY(model.fit(options));
  return model;
}

}  // namespace

Result<ModelContext> load_model_context(const RunOptions& run, const Ready& ready) {
  if (run.engine) return other_context(*run.engine, ready, run);
  auto tokenizer =
      TRY(run.model.empty() ? Tokenizer::built_in(ready.n_vocab) : Tokenizer::load(run.model, ready.n_vocab));
  return spoken_model(std::move(tokenizer), ready, run, takes_keyed_tone(run.model));
}

}  // namespace tutti
