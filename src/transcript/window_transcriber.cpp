#include "transcript/window_transcriber.h"

#include <algorithm>
#include <iterator>

#include "transcript/compression_ratio.h"
#include "transcript/like_python.h"
#include "transcript/words/segment_words.h"
#include "transcript/words/timed_words.h"

namespace tutti {
namespace {

/// Half of it holds the previous text; sot_prev, the sot sequence and some answer need the rest.
constexpr std::int32_t kSmallestTextContext = 16;

using Tokens = std::vector<std::int32_t>;

Tokens text_tokens(std::span<const std::int32_t> tokens, std::int32_t eot) {
  Tokens text;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(text), [eot](std::int32_t id) { return id < eot; });
  return text;
}

/// A segment without text or without length keeps its place but says nothing, and leads no later window.
void clear_if_empty(Segment& segment) {
  if (segment.start != segment.end && !strip(segment.text).empty()) return;
  segment.text.clear();
  segment.tokens.clear();
  segment.words.clear();
}

Result<void> check(const Alignment& alignment, std::size_t tokens, WindowSpan window) {
  const auto& starts = alignment.starts;
  if (alignment.probabilities.size() != tokens || starts.size() != tokens + 1)
    return fail(Fault::internal, "alignment of " + std::to_string(tokens) +
                                     " tokens: expected as many probabilities and one start more, found " +
                                     std::to_string(alignment.probabilities.size()) + " and " +
                                     std::to_string(starts.size()));
  if (!std::is_sorted(starts.begin(), starts.end()) || starts.front() < 0 || 2 * starts.back() > window.frames)
    return fail(Fault::internal, "alignment: expected starts that follow each other in the window's " +
                                     std::to_string(window.frames) + " frames, found others");
  return {};
}

}  // namespace

WindowTranscriber::WindowTranscriber(const LongFormInput& input, const Tokenizer& tokenizer,
                                     const LongFormOptions& options, const std::string& language)
    : tokenizer_(tokenizer),
      options_(options),
      prompt_(tokenizer, options, language, input.n_text_ctx),
      frames_per_window_(input.frames_per_window),
      language_(language) {}

Result<WindowText> WindowTranscriber::transcribe(WindowSpan window, std::span<const std::int32_t> previous,
                                                 WindowDecoder& decoder, const AroundWindow& around) const {
  auto request = prompt_.request_after(previous);
  if (!request) return tl::unexpected(request.error());
  const auto decoding = decode_with_fallback(window, *std::move(request), decoder);
  if (!decoding) return tl::unexpected(decoding.error());
  WindowText text{.next_seek = window.seek + window.frames,
                  .temperature = decoding->temperature,
                  .silent = is_silence(decoding->scores, options_)};
  if (text.silent) return text;
  const SlicedWindow sliced = slice_window(decoding->tokens, window, tokenizer_.special().timestamp_begin);
  for (const Slice& slice : sliced.slices) text.segments.push_back(segment(slice, window, *decoding));
  text.next_seek = sliced.next_seek;
  if (options_.words) {
    const HeardWindow heard{window, frames_per_window_, sliced.closed, around};
    if (auto timed = time_words(text, heard, decoder); !timed) return tl::unexpected(timed.error());
  }
  for (Segment& segment : text.segments) clear_if_empty(segment);
  return text;
}

Result<void> WindowTranscriber::time_words(WindowText& text, const HeardWindow& window, WindowDecoder& decoder) const {
  const std::int32_t eot = tokenizer_.special().eot;
  Tokens said;
  for (const Segment& segment : text.segments) {
    const Tokens part = text_tokens(segment.tokens, eot);
    said.insert(said.end(), part.begin(), part.end());
  }
  std::vector<TimedWord> words;
  if (!said.empty()) {
    const auto alignment = decoder.align(window.span, {.sot_sequence = prompt_.sot_sequence(), .text = said});
    if (!alignment) return tl::unexpected(alignment.error());
    if (auto fits = check(*alignment, said.size(), window.span); !fits) return fits;
    words = timed_words(tokenizer_, said, *alignment, language_);
  }
  add_word_times(text.segments, std::move(words), *options_.words, eot, window.around.last_speech);
  const WordSeek seek = seek_by_words(text.segments, window, *options_.words, text.next_seek);
  // A window that leads to itself would show the same for ever.
  text.next_seek = seek.next_seek > window.span.seek ? seek.next_seek : window.span.seek + window.span.frames;
  text.silent = seek.dropped;
  if (seek.dropped) text.segments.clear();
  text.speech_end = speech_end(text.segments);
  return {};
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

Segment WindowTranscriber::segment(const Slice& slice, WindowSpan window, const WindowDecoding& decoding) const {
  return {.seek = window.seek,
          .start = slice.start,
          .end = slice.end,
          .text = tokenizer_.decode(text_tokens(slice.tokens, tokenizer_.special().eot)),
          .tokens = {slice.tokens.begin(), slice.tokens.end()},
          .temperature = decoding.temperature,
          .avg_logprob = decoding.scores.avg_logprob,
          .compression_ratio = decoding.scores.compression_ratio,
          .no_speech_prob = decoding.scores.no_speech_prob};
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
