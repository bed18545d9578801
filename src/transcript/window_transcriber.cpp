#include "transcript/window_transcriber.h"

#include <algorithm>
#include <iterator>

#include "transcript/compression_ratio.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

/// Half of it holds the previous text; sot_prev, the sot sequence and some answer need the rest.
constexpr std::int32_t kSmallestTextContext = 16;

std::vector<std::int32_t> sot_sequence(const Tokenizer& tokenizer, const LongFormOptions& options,
                                       const std::string& language) {
  const SpecialTokens& special = tokenizer.special();
  auto sequence = tokenizer.sot_sequence(language, options.translate ? special.translate : special.transcribe);
  if (options.without_timestamps) sequence.push_back(special.no_timestamps);
  return sequence;
}

}  // namespace

WindowTranscriber::WindowTranscriber(const LongFormInput& input, const Tokenizer& tokenizer,
                                     const LongFormOptions& options, const std::string& language)
    : tokenizer_(tokenizer),
      options_(options),
      sot_sequence_(sot_sequence(tokenizer, options, language)),
      // 0 means the default too, as in the reference.
      max_tokens_(options.sample_len.value_or(0) > 0 ? *options.sample_len : input.n_text_ctx / 2) {}

Result<WindowText> WindowTranscriber::transcribe(WindowSpan window, std::span<const std::int32_t> previous,
                                                 WindowDecoder& decoder) const {
  const auto decoding = decode_with_fallback(window, request_after(previous), decoder);
  if (!decoding) return tl::unexpected(decoding.error());
  WindowText text{.next_seek = window.seek + window.frames,
                  .temperature = decoding->temperature,
                  .silent = is_silence(decoding->scores, options_)};
  if (text.silent) return text;
  const SlicedWindow sliced = slice_window(decoding->tokens, window, tokenizer_.special().timestamp_begin);
  for (const Slice& slice : sliced.slices) text.segments.push_back(segment(slice, window, *decoding));
  text.next_seek = sliced.next_seek;
  return text;
}

Result<WindowDecoding> WindowTranscriber::decode_with_fallback(WindowSpan window, DecodeRequest request,
                                                               WindowDecoder& decoder) const {
  WindowDecoding decoding;
  for (const double temperature : options_.temperatures) {
    request.temperature = temperature;
    auto answer = decoder.decode(window, request);
    if (!answer) return tl::unexpected(answer.error());
    const std::string text = tokenizer_.decode(answer->tokens);
    decoding = {std::move(answer->tokens),
                {compression_ratio(strip(text)), answer->avg_logprob, answer->no_speech_prob},
                temperature};
    if (!needs_fallback(decoding.scores, options_)) break;
  }
  return decoding;
}

/// [sot_prev, previous text] sot sequence; the temperature is left to the caller.
DecodeRequest WindowTranscriber::request_after(std::span<const std::int32_t> previous) const {
  DecodeRequest request{.max_tokens = max_tokens_};
  if (!previous.empty()) {
    request.prompt.push_back(tokenizer_.special().sot_prev);
    request.prompt.insert(request.prompt.end(), previous.begin(), previous.end());
  }
  request.sot_index = static_cast<std::int32_t>(request.prompt.size());
  request.prompt.insert(request.prompt.end(), sot_sequence_.begin(), sot_sequence_.end());
  return request;
}

/// A segment without text or without length keeps its place but says nothing, and leads no later window.
Segment WindowTranscriber::segment(const Slice& slice, WindowSpan window, const WindowDecoding& decoding) const {
  Segment made{.seek = window.seek,
               .start = slice.start,
               .end = slice.end,
               .temperature = decoding.temperature,
               .avg_logprob = decoding.scores.avg_logprob,
               .compression_ratio = decoding.scores.compression_ratio,
               .no_speech_prob = decoding.scores.no_speech_prob};
  std::vector<std::int32_t> text_tokens;
  std::copy_if(slice.tokens.begin(), slice.tokens.end(), std::back_inserter(text_tokens),
               [eot = tokenizer_.special().eot](std::int32_t id) { return id < eot; });
  std::string text = tokenizer_.decode(text_tokens);
  if (slice.start == slice.end || strip(text).empty()) return made;
  made.text = std::move(text);
  made.tokens.assign(slice.tokens.begin(), slice.tokens.end());
  return made;
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
    auto heard = decoder.detect_language(first);
    if (!heard) return tl::unexpected(heard.error());
    language = *std::move(heard);
  }
  if (special.multilingual && !special.language_token(language))
    return fail(Fault::usage, "language: expected a code the model knows, found '" + language + "'",
                "Name one like en, de or zh, or none to have it detected");
  return language;
}

}  // namespace tutti
