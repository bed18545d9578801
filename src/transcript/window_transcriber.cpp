#include "transcript/window_transcriber.h"

#include <algorithm>
#include <iterator>

#include "base/try.h"
#include "transcript/fallback.h"
#include "transcript/like_python.h"
#include "transcript/word_times.h"

namespace tutti {
namespace {

/// Half of it holds the previous text; sot_prev, the sot sequence and some answer need the rest.
constexpr std::int32_t kSmallestTextContext = 16;

/// A segment without text or without length keeps its index but is emptied, and leads no later window.
void clear_if_empty(Segment& segment) {
  if (segment.start != segment.end && !strip(segment.text).empty()) return;
  segment.text.clear();
  segment.tokens.clear();
  segment.words.clear();
  segment.text_tokens.clear();
}

}  // namespace

WindowTranscriber::WindowTranscriber(const LongFormInput& input, const Tokenizer& tokenizer,
                                     const LongFormOptions& options, const std::string& language)
    : tokenizer_(tokenizer), options_(options), prompt_{tokenizer, options, language, input.n_text_ctx} {
  if (options.words)
    words_.emplace(tokenizer, *options.words, prompt_.sot_sequence(), language, input.frames_per_window);
}

Result<WindowText> WindowTranscriber::transcribe(WindowSpan offered, std::span<const std::int32_t> previous,
                                                 WindowDecoder& decoder, const AroundWindow& around) const {
  const WindowSpan window = TRY(decoder.fitting(offered));
  auto request = TRY(prompt_.request_after(previous));
  const auto decoding = TRY(decode_with_fallback(window, std::move(request), decoder));
  WindowText text{.next_seek = window.seek + window.frames,
                  .temperature = decoding.temperature,
                  .silent = is_silence(decoding.scores, options_)};
  if (text.silent) return text;
  const SlicedWindow sliced = slice_window(decoding.tokens, window, tokenizer_.special().timestamp_begin);
  for (const Slice& slice : sliced.slices) text.segments.push_back(segment(slice, window, decoding));
  text.next_seek = sliced.next_seek;
  if (words_) {
    const auto seek = TRY(words_->add_words(text.segments, window, sliced, around, decoder));
    text.next_seek = seek.next_seek;
    text.speech_end = speech_end(text.segments);
    text.silent = seek.dropped;
  }
  for (Segment& segment : text.segments) clear_if_empty(segment);
  return text;
}

Result<WindowDecoding> WindowTranscriber::decode_with_fallback(WindowSpan window, DecodeRequest request,
                                                               WindowDecoder& decoder) const {
  WindowDecoding decoding;
  for (const double temperature : options_.temperatures) {
    request.temperature = temperature;
    auto answer = TRY(decoder.decode(window, request));
    const std::string text = tokenizer_.decode(answer.tokens);
    decoding = {std::move(answer.tokens),
                {compression_ratio(strip(text)), answer.avg_logprob, answer.no_speech_prob},
                temperature,
                std::move(answer.token_logprobs)};
    if (answer.is_exact || !needs_fallback(decoding.scores, options_)) break;
  }
  return decoding;
}

Segment WindowTranscriber::segment(const Slice& slice, WindowSpan window, const WindowDecoding& decoding) const {
  std::vector<std::int32_t> text;
  std::copy_if(slice.tokens.begin(), slice.tokens.end(), std::back_inserter(text),
               [eot = tokenizer_.special().eot](std::int32_t id) { return id < eot; });
  return {.seek = window.seek,
          .start = slice.start,
          .end = slice.end,
          .text = tokenizer_.decode(text),
          .tokens = {slice.tokens.begin(), slice.tokens.end()},
          .temperature = decoding.temperature,
          .avg_logprob = decoding.scores.avg_logprob,
          .compression_ratio = decoding.scores.compression_ratio,
          .no_speech_prob = decoding.scores.no_speech_prob,
          .text_tokens = text_tokens(slice, decoding)};
}

std::vector<TextToken> WindowTranscriber::text_tokens(const Slice& slice, const WindowDecoding& decoding) const {
  std::vector<TextToken> tokens;
  const auto first = static_cast<std::size_t>(slice.tokens.data() - decoding.tokens.data());
  if (decoding.token_logprobs.size() < first + slice.tokens.size()) return tokens;
  for (std::size_t i = 0; i < slice.tokens.size(); ++i) {
    const std::int32_t id = slice.tokens[i];
    if (id < tokenizer_.special().eot)
      tokens.push_back({std::string(tokenizer_.bytes_of(id)), decoding.token_logprobs[first + i]});
  }
  return tokens;
}

Result<void> check_long_form(const LongFormInput& input, const LongFormOptions& options) {
  if (options.temperatures.empty()) return fail(Fault::usage, "temperatures: expected at least one, found none");
  if (input.frames_per_window <= 0)
    return fail(Fault::unsupported,
                "window of the model: expected some mel frames, found " + std::to_string(input.frames_per_window));
  if (input.n_text_ctx < kSmallestTextContext)
    return fail(Fault::unsupported, "text context of the model: expected at least " +
                                        std::to_string(kSmallestTextContext) + " tokens, found " +
                                        std::to_string(input.n_text_ctx));
  return {};
}

Result<std::string> settle_language(const SpecialTokens& special, const LongFormOptions& options, WindowSpan first,
                                    WindowDecoder& decoder) {
  std::string language = options.language.value_or("en");
  if (!options.language && special.multilingual) {
    language = TRY(decoder.detect_language(first));
  }
  if (special.multilingual && !special.language_token(language))
    return fail(Fault::usage, "language: expected a code the model knows, found '" + language + "'",
                "Name one like en, de or zh, or none to have it detected");
  return language;
}

}  // namespace tutti
