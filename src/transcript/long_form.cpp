#include "transcript/long_form.h"

#include <algorithm>

#include "transcript/clips.h"
#include "transcript/compression_ratio.h"
#include "transcript/fallback.h"
#include "transcript/like_python.h"
#include "transcript/prompt.h"
#include "transcript/slices.h"

namespace tutti {
namespace {

/// Above this temperature a text is too wild to lead the next window.
constexpr double kTrustedTemperature = 0.5;

/// Half of it holds the previous text; sot_prev, the sot sequence and some answer need the rest.
constexpr std::int32_t kSmallestTextContext = 16;

/// One window, decoded well enough or as often as allowed.
struct Decoding {
  std::vector<std::int32_t> tokens;
  WindowScores scores;
  double temperature = 0;
};

std::vector<std::int32_t> initial_prompt_tokens(const Tokenizer& tokenizer, const LongFormOptions& options) {
  if (options.initial_prompt.empty()) return {};
  return tokenizer.encode(" " + std::string(strip(options.initial_prompt)));
}

Result<void> check(const LongFormInput& input, const LongFormOptions& options) {
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

class LongFormLoop {
 public:
  LongFormLoop(const LongFormInput& input, const Tokenizer& tokenizer, const LongFormOptions& options,
               WindowDecoder& decoder)
      : input_(input),
        tokenizer_(tokenizer),
        options_(options),
        decoder_(decoder),
        history_(initial_prompt_tokens(tokenizer, options), options.carry_initial_prompt, input.n_text_ctx) {}

  Result<Transcript> run(const OnProgress& on_progress) {
    const auto clips = clips_from(options_.clip_timestamps, input_.content_frames);
    if (!clips) return tl::unexpected(clips.error());
    if (auto settled = settle_language(); !settled) return tl::unexpected(settled.error());
    for (const Clip& clip : *clips) {
      for (std::int64_t seek = clip.start; seek < clip.end;) {
        const WindowSpan window{seek, std::min(input_.frames_per_window, clip.end - seek)};
        const std::size_t before = result_.segments.size();
        const auto next = transcribe_window(window);
        if (!next) return tl::unexpected(next.error());
        seek = *next;
        if (on_progress)
          on_progress({result_.segments.begin() + static_cast<std::ptrdiff_t>(before), result_.segments.end()}, seek);
      }
    }
    result_.text = tokenizer_.decode(history_.said());
    return std::move(result_);
  }

 private:
  /// The language of the whole recording: given, English where the model knows no other, or heard in its first window.
  Result<void> settle_language() {
    const SpecialTokens& special = tokenizer_.special();
    if (options_.language) {
      result_.language = *options_.language;
    } else if (!special.multilingual) {
      result_.language = "en";
    } else {
      // A whole window also of a shorter recording: here, unlike in decoding, the reference pads with frames of
      // silence.
      auto heard = decoder_.detect_language({0, input_.frames_per_window});
      if (!heard) return tl::unexpected(heard.error());
      result_.language = *std::move(heard);
    }
    if (special.multilingual && !special.language_token(result_.language))
      return fail(Fault::usage, "language: expected a code the model knows, found '" + result_.language + "'",
                  "Name one like en, de or zh, or none to have it detected");
    sot_sequence_ =
        tokenizer_.sot_sequence(result_.language, options_.translate ? special.translate : special.transcribe);
    if (options_.without_timestamps) sot_sequence_.push_back(special.no_timestamps);
    return {};
  }

  /// Adds the window's segments to the result; the frame to go on at.
  Result<std::int64_t> transcribe_window(WindowSpan window) {
    const auto decoding = decode_with_fallback(window);
    if (!decoding) return tl::unexpected(decoding.error());
    if (is_silence(decoding->scores, options_)) return window.seek + window.frames;
    const SlicedWindow sliced = slice_window(decoding->tokens, window, tokenizer_.special().timestamp_begin);
    for (const Slice& slice : sliced.slices) {
      result_.segments.push_back(segment(slice, window, *decoding));
      history_.append(result_.segments.back().tokens);
    }
    if (!options_.condition_on_previous_text || decoding->temperature > kTrustedTemperature) history_.forget();
    return sliced.next_seek;
  }

  Result<Decoding> decode_with_fallback(WindowSpan window) {
    DecodeRequest request = next_request();
    Decoding decoding;
    for (const double temperature : options_.temperatures) {
      request.temperature = temperature;
      auto answer = decoder_.decode(window, request);
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
  DecodeRequest next_request() const {
    DecodeRequest request;
    const auto previous = history_.next();
    if (!previous.empty()) {
      request.prompt.push_back(tokenizer_.special().sot_prev);
      request.prompt.insert(request.prompt.end(), previous.begin(), previous.end());
    }
    request.sot_index = static_cast<std::int32_t>(request.prompt.size());
    request.prompt.insert(request.prompt.end(), sot_sequence_.begin(), sot_sequence_.end());
    // 0 means the default too, as in the reference.
    request.max_tokens = options_.sample_len.value_or(0) > 0 ? *options_.sample_len : input_.n_text_ctx / 2;
    return request;
  }

  /// A segment without text or without length keeps its place but says nothing, and leads no later window.
  Segment segment(const Slice& slice, WindowSpan window, const Decoding& decoding) const {
    Segment made{.id = static_cast<std::int64_t>(result_.segments.size()),
                 .seek = window.seek,
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

  const LongFormInput& input_;
  const Tokenizer& tokenizer_;
  const LongFormOptions& options_;
  WindowDecoder& decoder_;
  PromptHistory history_;
  std::vector<std::int32_t> sot_sequence_;
  Transcript result_;
};

}  // namespace

Result<Transcript> transcribe_long_form(const LongFormInput& input, const Tokenizer& tokenizer,
                                        const LongFormOptions& options, WindowDecoder& decoder,
                                        const OnProgress& on_progress) {
  if (auto meant = check(input, options); !meant) return tl::unexpected(meant.error());
  return LongFormLoop(input, tokenizer, options, decoder).run(on_progress);
}

}  // namespace tutti
